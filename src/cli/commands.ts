import { isIP } from 'node:net';
import { readConfig } from '../config.ts';
import { addressKey } from '../lib/limits/request-caller.ts';
import { logHash } from '../lib/log-hash.ts';
import {
  type Command,
  type Commands,
  EXIT_FAILED,
  EXIT_OK,
  readArguments,
  UsageError,
} from './dispatch.ts';
import { ordersCommand } from './orders-command.ts';
import { sandboxCommand } from './sandbox-command.ts';

const startCommand: Command = {
  summary: 'run the service',
  usage: [
    'Usage: trading-graph start',
    '',
    'Runs the service, as `npm start` does; without GATEWAY_URL a sandbox gateway runs inside.',
    'The environment configures it: docs/configuration.md lists the variables.',
  ].join('\n'),
  async run(args) {
    readArguments({ args: [...args], options: {} });
    // A command ends if the reader of its output disconnects, but the service continues without a reader of its log.
    process.stdout.removeAllListeners('error');
    await import('../main.ts');
    // The service ends its process itself: after a signal, or if it cannot start.
    return Promise.withResolvers<never>().promise;
  },
};

const checkCommand: Command = {
  summary: 'check the configuration, and a gateway against the interface',
  usage: [
    'Usage: trading-graph check [--sandbox]',
    '',
    'Checks the configuration as a start does, all problems at once, and then the gateway at GATEWAY_URL: signs in,',
    'runs each operation that reads, and compares the answers with the interface field by field. It writes nothing and',
    'places no order; of answers and tokens it prints names and types, never values.',
    '',
    '  --sandbox  checks the sandbox gateway instead, as its demo user',
    '',
    'Variables of the check, in addition to those of the service:',
    '  CHECK_EMAIL, CHECK_PASSWORD    the user who signs in (op 2, once), or',
    '  CHECK_TOKEN                    a token to call with',
    '  CHECK_PASSWORD_FILE, CHECK_TOKEN_FILE   files that hold them',
    '',
    'Exit code: 0 no problem (there may be warnings), 1 a problem, 2 a faulty command line.',
  ].join('\n'),
  async run(args, { environment, out }) {
    const { values } = readArguments({
      args: [...args],
      options: { sandbox: { type: 'boolean' } },
    });
    const { check } = await import('../check/check.ts');
    const isFine = await check({ environment, isSandbox: values.sandbox === true, onLine: out });
    return isFine ? EXIT_OK : EXIT_FAILED;
  },
};

/** Prints the schema, even if the server does not answer introspection. */
const schemaCommand: Command = {
  summary: 'print the GraphQL schema',
  usage: ['Usage: trading-graph schema', '', 'Prints the GraphQL schema (SDL).'].join('\n'),
  async run(args, terminal) {
    readArguments({ args: [...args], options: {} });
    const { buildSchema, printedSchema } = await import('../schema/schema.ts');
    terminal.out(printedSchema(buildSchema()));
    return EXIT_OK;
  },
};

const interfaceCommand: Command = {
  summary: 'print what a gateway has to answer, as OpenAPI 3.1',
  usage: [
    'Usage: trading-graph interface',
    '',
    "Prints the gateway's operations as this service calls and reads them: OpenAPI 3.1, as JSON.",
  ].join('\n'),
  async run(args, terminal) {
    readArguments({ args: [...args], options: {} });
    const { openApi } = await import('../check/open-api.ts');
    terminal.out(JSON.stringify(openApi(), null, 2));
    return EXIT_OK;
  },
};

const hashCommand: Command = {
  summary: 'print the hash that the log has of an account, an address or a key',
  usage: [
    'Usage: trading-graph hash <login | address | idempotency key>',
    '',
    'Prints the hash that the log has of an account, by its trading login, of a client’s address (an IPv6 address has',
    'the hash of its /64), or of an order, by its idempotency key. The key of the hash is LOG_ACCOUNT_KEY.',
  ].join('\n'),
  async run(args, terminal) {
    const { positionals } = readArguments({ args: [...args], allowPositionals: true });
    const [text = '', ...more] = positionals;
    if (text === '' || more.length > 0) {
      throw new UsageError('Name one login, one address, or one key.');
    }
    const { logAccountKey } = readConfig(terminal.environment);
    if (logAccountKey === null) {
      terminal.err('LOG_ACCOUNT_KEY is not set: each process hashes by a key of its own.');
      return EXIT_FAILED;
    }
    terminal.out(logHash(logAccountKey, isIP(text) === 0 ? text : addressKey(text)));
    return EXIT_OK;
  },
};

/** The commands of the program. Each loads what it needs only when it runs. */
export const COMMANDS: Commands = {
  start: startCommand,
  sandbox: sandboxCommand,
  check: checkCommand,
  schema: schemaCommand,
  interface: interfaceCommand,
  orders: ordersCommand,
  hash: hashCommand,
};
