import { isIP } from 'node:net';
import { readConfig } from '../config.ts';
import { addressKey } from '../lib/address-key.ts';
import { logHash } from '../lib/log-hash.ts';
import { type Command, EXIT_FAILED, EXIT_OK, readArguments, UsageError } from './dispatch.ts';

/** Prints the hash of an account, an address or a key in the log, to search for it. */
export const hashCommand: Command = {
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
