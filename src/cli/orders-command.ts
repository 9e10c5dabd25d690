import { withoutPassword } from '../config/given-value.ts';
import { type Config, readConfig } from '../config.ts';
import { toLogin } from '../domain/auth/claims.ts';
import { partsOf } from '../domain/auth/viewer.ts';
import { type Account, toAccount } from '../lib/account.ts';
import { KEY_MARGIN_MS } from '../store/key-rule.ts';
import { openOperatorRecords } from '../store/open-stores.ts';
import type { OperatorRecords } from '../store/operator-records.ts';
import type { RecordsStatus } from '../store/order-records.ts';
import { RecordsUnavailableError } from '../store/refusals.ts';
import { StoreError } from '../store/store-error.ts';
import {
  type Command,
  EXIT_FAILED,
  EXIT_OK,
  readArguments,
  type Terminal,
  UsageError,
} from './dispatch.ts';
import { listOrders, settledOutcome, settleOrder, showOrder } from './order-cases.ts';

export const ordersCommand: Command = {
  summary: 'read and settle order records, and hold orders',
  usage: [
    'Usage: trading-graph orders <status | hold | release | incomplete | copy <to>>',
    '       trading-graph orders list [<account>] [--unknown]',
    '       trading-graph orders show <account> <key>',
    '       trading-graph orders settle <account> <key> <accepted --number gateway-number | not-sent> --by name --why text',
    '',
    '  status      prints the number of order records, and their problems',
    '  hold        refuses all orders until release, on all replicas within three seconds; none of them is sent',
    '  incomplete  refuses unknown keys made before now; run it before a start with a restored file',
    '  copy        copies the SQLite file to a new file <to> while the service runs; a restored copy lacks all later orders',
    '  list        lists the recorded orders; --unknown: only those whose outcome is unknown',
    '  show        prints an order as it was asked, and its outcome',
    '  settle      gives an unknown order the outcome that the back office has found; every client gets it. It is possible',
    '              from a minute after its ORDER_TIMEOUT_MS on, and final. The key stays used up. For an order that the gateway',
    '              refused or never got, say not-sent.',
    '',
    'An account is a trading login. With GATEWAY_FORWARD_HEADERS the name continues as `list` prints it.',
    'The records are those of the service: in REDIS_URL if it is set, otherwise in ORDER_STORE.',
  ].join('\n'),
  async run(args, terminal) {
    const config = readConfig(terminal.environment);
    const { redisUrl, orderStore } = config;
    const act = actionOf(args, config, terminal);
    if (redisUrl === null && orderStore === 'memory') {
      terminal.err(IN_MEMORY);
      return EXIT_FAILED;
    }
    let isOpen = false;
    try {
      using opened = new DisposableStack();
      const records = await openOperatorRecords({
        redisUrl,
        orderStore,
        prefix: config.redisPrefix,
        redisReplicas: config.redisReplicas,
        requiresAppendonly: config.requiresAppendonly,
        max: config.orderRecordsMax,
        onWarn: terminal.err,
      });
      opened.defer(() => records.close());
      isOpen = true;
      return await act(records);
    } catch (problem) {
      if (problem instanceof StoreError) {
        const place = redisUrl === null ? `The file ${orderStore}` : 'REDIS_URL:';
        terminal.err(`${place} ${problem.message}.`);
      } else if (problem instanceof RecordsUnavailableError) {
        const done = isOpen ? 'it is unknown whether this was done' : 'nothing was done';
        terminal.err(`${problem.message}: ${done}. Repeat it.`);
      } else throw problem;
      return EXIT_FAILED;
    }
  },
};

const OPTIONS = {
  unknown: { type: 'boolean' },
  number: { type: 'string' },
  by: { type: 'string' },
  why: { type: 'string' },
} as const;

/** The actions, each with the maximum number of its operands. */
const OPERANDS: ReadonlyMap<string, number> = new Map([
  ['status', 0],
  ['hold', 0],
  ['release', 0],
  ['incomplete', 0],
  ['copy', 1],
  ['list', 1],
  ['show', 2],
  ['settle', 3],
]);

type Action = (records: OperatorRecords) => Promise<number>;

/** Throws a UsageError if the arguments are faulty. */
function actionOf(args: readonly string[], config: Config, terminal: Terminal): Action {
  const read = readArguments({ args: [...args], options: OPTIONS, allowPositionals: true });
  const [action = '', ...operands] = read.positionals;
  const options = read.values;
  const most = OPERANDS.get(action);
  if (most === undefined) throw new UsageError(`Name one of ${[...OPERANDS.keys()].join(', ')}.`);
  if (operands.length > most) throw new UsageError(`${operands[most]} is one argument too many.`);
  const [first, key, verdict] = operands;
  const { redisUrl, orderStore } = config;
  switch (action) {
    case 'copy':
      if (!first) throw new UsageError('Name the file to copy to.');
      if (redisUrl !== null)
        throw new UsageError('Only an order file can be copied. Use the backups of Redis.');
      return async ({ copyTo }) => {
        terminal.out(`${first}: ${await copyTo?.(first)} order records`);
        return EXIT_OK;
      };
    case 'list': {
      const account = first === undefined ? null : accountNamed(first);
      const onlyUnknown = options.unknown === true;
      return (records) => listOrders(records.list(account), onlyUnknown, config, terminal);
    }
    case 'show': {
      const order = { account: accountNamed(first), key: keyOf(key) };
      return (records) => showOrder(records, order, terminal);
    }
    case 'settle': {
      const order = { account: accountNamed(first), key: keyOf(key) };
      const outcome = settledOutcome({ ...options, verdict });
      return (records) => settleOrder(records, order, outcome, terminal);
    }
    case 'hold':
    case 'release':
      return async (records) => {
        await records.hold(action === 'hold');
        terminal.out(action === 'hold' ? HELD_SOON : 'orders are sent again');
        return EXIT_OK;
      };
    // `status`, and `incomplete`, which prints the status too.
    default:
      return async (records) => {
        if (action === 'incomplete') await records.declareIncomplete();
        const place = redisUrl === null ? orderStore : withoutPassword(redisUrl);
        terminal.out(`${place}: ${statusText(await records.status())}`);
        return EXIT_OK;
      };
  }
}

function accountNamed(operand = ''): Account {
  const account = toAccount(operand);
  const [login] = partsOf(account);
  if (toLogin(login) !== null) return account;
  throw new UsageError('Name the account by its trading login, as `orders list` prints it.');
}

function keyOf(operand = ''): string {
  if (operand === '') throw new UsageError('Name the key of the order.');
  return operand;
}

function statusText({ count, degradedReason, holdReason, sinceMs }: RecordsStatus): string {
  const hold = holdReason === null ? null : `orders are ${holdReason}`;
  const refusal = degradedReason ?? hold;
  if (refusal !== null) return `${count} order records; no order is taken: ${refusal}`;
  if (sinceMs === null) return `${count} order records; ${NOT_DECIDED}`;
  // A store of the sandbox takes keys of any time.
  const since =
    sinceMs === 0 ? '' : ` with keys made after ${new Date(sinceMs + KEY_MARGIN_MS).toISOString()}`;
  return `${count} order records; orders are taken${since}`;
}

const NOT_DECIDED =
  'keys without a record are refused until the service has measured the clock of the gateway';
const HELD_SOON = 'within three seconds no order is sent, until release';
const IN_MEMORY =
  'The order records are in the memory of the service, where no command reaches them. Set ORDER_STORE to a file.';
