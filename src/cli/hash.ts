import { isIP } from 'node:net';
import { readConfig } from '../config.ts';
import { toLogin } from '../domain/auth/claims.ts';
import { addressKey } from '../lib/address-key.ts';
import { logHash } from '../lib/log-hash.ts';
import { readArguments, UsageError } from './command/arguments.ts';
import { type Command, EXIT_FAILED, EXIT_OK } from './command/dispatch.ts';
import { forwardedOf } from './tenant.ts';

/** Prints what the lines of the log have in place of an account or an address, to search for it. */
export const hashCommand: Command = {
  usage: [
    'Usage: trading-graph hash <login | address | --key idempotency-key | --header name=value …>',
    '',
    'Prints the hash that the log has of an account, by its trading login, or of a client’s address',
    '(an IPv6 address has the hash of its /64), of an order, by its idempotency key, or of a tenant, by the headers of',
    'GATEWAY_FORWARD_HEADERS. The key of the hash is LOG_ACCOUNT_KEY, as the service has it.',
  ].join('\n'),
  async run(args, terminal) {
    const options = {
      header: { type: 'string', multiple: true },
      key: { type: 'string' },
    } as const;
    const read = readArguments({ args: [...args], options, allowPositionals: true });
    const [asked = '', ...more] = read.positionals;
    const { header: headers = [], key } = read.values;
    const isTenant = headers.length > 0;
    const isAddress = isIP(asked) !== 0;
    const said = [isAddress || toLogin(asked) !== null, isTenant, key !== undefined];
    const isOne = said.filter(Boolean).length === 1 && (asked === '' || said[0]);
    if (more.length > 0 || !isOne) {
      throw new UsageError('Say one login, one address, one key, or the headers of a tenant.');
    }
    const { logAccountKey, gatewayForwardHeaders } = readConfig(terminal.environment);
    if (logAccountKey === null) {
      terminal.err('LOG_ACCOUNT_KEY is not set: each process hashes by a key of its own.');
      return EXIT_FAILED;
    }
    const tenant = forwardedOf(headers, gatewayForwardHeaders)?.digest;
    const other = isAddress ? addressKey(asked) : asked;
    terminal.out(logHash(logAccountKey, key ?? tenant ?? other));
    return EXIT_OK;
  },
};
