import { sandboxSettings } from '../app/embedded-sandbox.ts';
import { readArguments } from '../cli/arguments.ts';
import { type Command, EXIT_FAILED, EXIT_OK, type Terminal } from '../cli/dispatch.ts';
import type { SettingName } from '../config/settings.ts';
import { embeddedSandbox } from '../sandbox/embedded.ts';
import { checkDeployment } from './deployment.ts';
import { type ConfigurationReport, checkConfiguration } from './gateway/configuration.ts';
import { type Credentials, readCredentials } from './gateway/credentials.ts';
import type { Finding } from './gateway/finding.ts';
import { checkGateway, type GatewayReport } from './gateway/gateway-check.ts';
import { callLine, findingLines, nameOf, unknownLines } from './gateway/lines.ts';
import { createProbe } from './gateway/probe.ts';
import { Progress } from './progress.ts';
import type { Section } from './section.ts';

/** Tells before a start what a start, or its first request, would fail of. */
export const checkCommand: Command = {
  usage: [
    'Usage: trading-graph check [--sandbox] [--strict] [--json] [--allow-missing FIELD]…',
    '',
    'Checks the configuration as a start does, all problems at once, the machine or container that it runs in,',
    'and then the gateway at GATEWAY_URL: signs in, calls each operation that reads, compares the answers with',
    'the interface field by field, and says which settings fit. It writes nothing and places no order; of',
    'answers and tokens it prints names and types, never values.',
    '',
    '  --sandbox  checks the sandbox gateway instead, as its demo user',
    '  --strict   a warning counts as a problem',
    '  --json     the whole report as JSON',
    '  --allow-missing FIELD  a field that this gateway may lack, or have with another type: profit, or positions[].profit',
    '',
    'Variables of the check, beside those of the service:',
    '  CHECK_TOKEN                    a token to call with, or',
    '  CHECK_EMAIL, CHECK_PASSWORD    who signs in (op 2, once)',
    '  CHECK_TOKEN_FILE, CHECK_PASSWORD_FILE   files that hold them; without any the console is asked',
    '',
    'Exit code: 0 no problem (there may be warnings), 1 a problem, 2 a faulty command line, 75 nothing but a',
    'gateway that does not answer for now: try again.',
  ].join('\n'),
  async run(args, terminal) {
    const given = readArguments({
      args: [...args],
      options: {
        sandbox: { type: 'boolean' },
        strict: { type: 'boolean' },
        json: { type: 'boolean' },
        'allow-missing': { type: 'string', multiple: true },
      },
    });
    const { json = false, sandbox = false, strict = false } = given.values;
    const allowed = new Set(given.values['allow-missing']);
    // As JSON, all but the progress waits for the end.
    const out = json ? () => {} : terminal.out;
    const configuration = await checkConfiguration(terminal.environment);
    for (const line of sectionLines('Configuration', configuration)) out(line);
    const deployment = await checkDeployment(configuration.config);
    for (const line of sectionLines('Deployment', deployment)) out(line);
    const target = targetOf(configuration, sandbox);
    out(`Gateway        ${target.words}`);
    const report =
      target.kind === 'none'
        ? null
        : await checkTarget(target, configuration, allowed, { ...terminal, out });
    const found = countOf([configuration, deployment], report?.findings ?? []);
    const code = exitCode(found, strict);
    if (report) for (const line of reportLines(report)) out(line);
    out('');
    out(conclusion(found, target));
    if (json) {
      const whole = { ok: code === EXIT_OK, ...jsonOf(configuration, deployment, target, report) };
      terminal.out(JSON.stringify(whole, null, 2));
    }
    return code;
  },
};

interface Target {
  readonly kind: 'gateway' | 'sandbox' | 'none';
  readonly words: string;
}

// A setting that is wrong has its default here, which is not what was meant.
const OF_THE_GATEWAY = /^(GATEWAY|CATALOG|JWT|SANDBOX)(_|$)/;

function targetOf({ config, faulty }: ConfigurationReport, sandbox: boolean): Target {
  if ([...faulty].some((name) => OF_THE_GATEWAY.test(name))) {
    return { kind: 'none', words: 'not checked, since settings of it are wrong' };
  }
  if (sandbox) return { kind: 'sandbox', words: 'the sandbox' };
  if (config.gatewayUrl !== null) return { kind: 'gateway', words: config.gatewayUrl };
  return {
    kind: 'none',
    words: 'not checked: GATEWAY_URL is unset (--sandbox checks the sandbox gateway)',
  };
}

function sectionLines(title: string, { problems, warnings }: Section): string[] {
  const count = problems.length;
  const verdict = count === 0 ? 'fine' : plural(count, 'problem');
  return [
    `${title.padEnd(14)} ${verdict}`,
    ...problems.map((line) => `  - ${line}`),
    ...warnings.map((line) => `  - warning: ${line}`),
  ];
}

async function checkTarget(
  { kind }: Target,
  { config }: ConfigurationReport,
  allowed: ReadonlySet<string>,
  terminal: Terminal,
): Promise<GatewayReport> {
  await using started = new AsyncDisposableStack();
  const sandbox =
    kind === 'sandbox' ? started.use(await embeddedSandbox.start(sandboxSettings(config))) : null;
  const probe = started.use(
    createProbe({
      ...config,
      url: sandbox?.url ?? config.gatewayUrl ?? '',
      gatewayForwardClient: false,
      gatewayForwardHeaders: [],
    }),
  );
  let progress: Progress | null = null;
  return await checkGateway({
    probe,
    config,
    credentials: () => (sandbox === null ? readCredentials(terminal) : Promise.resolve(DEMO_USER)),
    nowMs: Date.now,
    allowed,
    onStart(operation) {
      progress = new Progress(terminal, (seconds) => `… ${nameOf(operation)}: ${seconds} s`);
    },
    onEnd(call) {
      progress?.[Symbol.dispose]();
      terminal.out(callLine(call));
    },
  });
}

/** The settings that only operations use which change something. */
const UNVERIFIED: readonly SettingName[] = ['GATEWAY_DIRECTION_FIELD', 'GATEWAY_MOBILE_WALLET'];

const DEMO_USER: Credentials = { kind: 'password', email: 'demo@example.com', password: 'demo' };

function reportLines(report: GatewayReport): string[] {
  const unknowns = unknownLines(report);
  const settings = Object.entries(report.settings);
  return [
    ...(unknowns.length > 0 ? ['', 'Where the interface is silent', ...unknowns] : []),
    ...findingLines(report.findings),
    ...(settings.length > 0 ? ['', 'Set'] : []),
    ...settings.map(([name, value]) => `  ${name}=${value}`),
    '',
    'Not verified, since only a write would show whether they fit',
    ...UNVERIFIED.map((name) => `  ${name}`),
  ];
}

interface Count {
  readonly problems: number;
  /** Of the problems, those that may pass by themselves. */
  readonly passing: number;
  readonly warnings: number;
}

function countOf(sections: readonly Section[], findings: readonly Finding[]): Count {
  const of = (level: Finding['level']) => findings.filter((each) => each.level === level);
  const sum = (name: keyof Section) =>
    sections.reduce((total, section) => total + section[name].length, 0);
  return {
    problems: sum('problems') + of('problem').length,
    passing: of('problem').filter(({ mayPass }) => mayPass).length,
    warnings: sum('warnings') + of('warning').length,
  };
}

/** As sysexits.h has it: another try may succeed. */
const EXIT_TRY_AGAIN = 75;

function exitCode({ problems, passing, warnings }: Count, strict: boolean): number {
  if (strict && warnings > 0) return EXIT_FAILED;
  if (problems === 0) return EXIT_OK;
  return problems === passing ? EXIT_TRY_AGAIN : EXIT_FAILED;
}

function conclusion({ problems, warnings }: Count, { kind }: Target): string {
  if (problems > 0) return `${plural(problems, 'problem')}.`;
  if (warnings > 0) return `No problem, ${plural(warnings, 'warning')}.`;
  return kind === 'none' ? 'The configuration is fine.' : 'No problem.';
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function jsonOf(
  { problems, warnings }: ConfigurationReport,
  deployment: Section,
  { kind }: Target,
  report: GatewayReport | null,
) {
  const unverified = report === null ? [] : UNVERIFIED;
  return {
    configuration: { problems, warnings },
    deployment,
    checked: kind,
    gateway: report,
    unverified,
  };
}
