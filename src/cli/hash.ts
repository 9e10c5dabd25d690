import { isIP } from 'node:net';
import { addressKey } from '../../lib/address-key.ts';
import { logHash } from '../../lib/log-hash.ts';
import { readConfig } from '../config.ts';
import { UsageError } from './arguments.ts';
import { type Command, EXIT_FAILED, EXIT_OK } from './dispatch.ts';

/** Prints what the lines of the log have in place of an account or an address, to search for it. */
export const hashCommand: Command = {
  usage: [
    'Usage: trading-graph hash <login | address>',
    '',
    'Prints the hash that the log has of an account, by its trading login, or of a client’s address',
    '(an IPv6 address has the hash of its /64). The key is LOG_ACCOUNT_KEY, as the service has it.',
  ].join('\n'),
  async run(args, terminal) {
    const [asked = '', ...more] = args;
    const isAddress = isIP(asked) !== 0;
    if (more.length > 0 || !(isAddress || /^\d{1,15}$/.test(asked))) {
      throw new UsageError('Say one login, or one address.');
    }
    const { logAccountKey } = readConfig(terminal.environment);
    if (logAccountKey === null) {
      terminal.err('LOG_ACCOUNT_KEY is not set: each process hashes by a key of its own.');
      return EXIT_FAILED;
    }
    terminal.out(logHash(logAccountKey, isAddress ? addressKey(asked) : asked));
    return EXIT_OK;
  },
};
