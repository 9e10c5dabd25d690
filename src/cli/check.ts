import { check } from '../check/check.ts';
import { type Command, EXIT_FAILED, EXIT_OK, readArguments } from './dispatch.ts';

/** Finds the faults that prevent a start, or make the first requests fail. */
export const checkCommand: Command = {
  usage: [
    'Usage: trading-graph check [--sandbox] [--strict] [--json]',
    '',
    'Checks the configuration as a start does, all problems at once, and then the gateway at GATEWAY_URL: signs in,',
    'runs each operation that reads, and compares the answers with the interface field by field. It writes nothing and',
    'places no order; of answers and tokens it prints names and types, never values.',
    '',
    '  --sandbox  checks the sandbox gateway instead, as its demo user',
    '  --strict   a warning counts as a problem',
    '  --json     the whole report as JSON',
    '',
    'Variables of the check, in addition to those of the service:',
    '  CHECK_EMAIL, CHECK_PASSWORD    the user who signs in (op 2, once), or',
    '  CHECK_TOKEN                    a token to call with',
    '  CHECK_PASSWORD_FILE, CHECK_TOKEN_FILE   files that hold them',
    '',
    'Exit code: 0 no problem (there may be warnings), 1 a problem, 2 a faulty command line.',
  ].join('\n'),
  async run(args, { environment, out }) {
    const given = readArguments({
      args: [...args],
      options: {
        sandbox: { type: 'boolean' },
        strict: { type: 'boolean' },
        json: { type: 'boolean' },
      },
    });
    const { json = false, sandbox = false, strict = false } = given.values;
    // With --json nothing is printed before the report.
    const onLine = json ? () => {} : out;
    const report = await check({ environment, isSandbox: sandbox, isStrict: strict, onLine });
    if (json) out(JSON.stringify(report, null, 2));
    return report.ok ? EXIT_OK : EXIT_FAILED;
  },
};
