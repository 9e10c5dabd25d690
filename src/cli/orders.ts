import { existsSync } from 'node:fs';
import { withoutPassword } from '../config/setting.ts';
import { readConfig } from '../config.ts';
import { toLogin } from '../domain/auth/claims.ts';
import { accountOf } from '../domain/auth/viewer.ts';
import { openOperatorRecords } from '../store/open-operator-records.ts';
import type { OperatorStatus } from '../store/operator-records.ts';
import { RecordsUnavailableError } from '../store/order-records.ts';
import { StoreError } from '../store/store-error.ts';
import { readArguments, UsageError } from './arguments.ts';
import { type Command, EXIT_FAILED, EXIT_OK, type Terminal } from './dispatch.ts';
import { CASES, runCase } from './order-cases.ts';
import { forwardedOf } from './tenant.ts';

/** Reports whether orders are taken, and lets the operator say that the records are complete. */
export const ordersCommand: Command = {
  usage: [
    'Usage: trading-graph orders <hold | release | copy <to> | move <to> | complete | incomplete | free <login>> [--file <path>]',
    '       trading-graph orders status [--json] [--file <path>]',
    '       trading-graph orders list [<login>] [--unknown] [--json]',
    '       trading-graph orders show <login> <key | --number gateway-number> [--json]',
    '       trading-graph orders settle <login> <key> <accepted --number gateway-number | not-sent> --by name --why text',
    '',
    '  status      says how many order records there are, and what is wrong with them',
    '  hold        sends no order until release, on all replicas within two seconds: each is refused as surely not sent,',
    '              and readiness says orders-held',
    '  copy        copies the file while the service runs, readable by you alone; one that is restored lacks what came after it',
    '  move        moves the file while the service runs, which then takes no order until it restarts with the new ORDER_STORE',
    '  complete    takes orders again: what is missing or damaged may be sent a second time;',
    '              drops damaged records; restart the service afterwards',
    '  incomplete  refuses unknown keys made before now for 24 hours: for a file that was restored with its disk, or a Redis',
    '              while no replica lived, which nothing else shows',
    '  free        gives an account, by its trading login, its whole share of records again; no key can be sent',
    '              a second time by that, and no restart is needed',
    '  list        says which orders are on record, of the last 24 hours; --unknown: those of which nobody knows what became',
    '  show        says what was asked, when it was sent, and what was answered by which replica (ORDER_TRAIL_DAYS)',
    '  settle      tells every client from now on what the back office has found of an unknown order, a minute after its',
    '              deadline at the earliest; nothing takes it back, and its key stays used up',
    '',
    '  --file    the file; when left out ORDER_STORE, or Redis where REDIS_URL is set',
    '  --header  name=value of a header of GATEWAY_FORWARD_HEADERS, as the requests of the account have it; one for each',
  ].join('\n'),
  async run(args, terminal) {
    const asked = readArgs(args);
    try {
      return await act(asked, terminal);
    } catch (problem) {
      if (problem instanceof StoreError) {
        const config = readConfig(terminal.environment);
        const isFile = config.redisUrl === null || asked.file !== undefined;
        const path = asked.file ?? config.orderStore;
        terminal.err(`${isFile ? `The file ${path} ` : 'REDIS_URL: '}${problem.message}.`);
      } else if (problem instanceof RecordsUnavailableError) {
        terminal.err(`${problem.message}: it may not be done, repeat it.`);
      } else throw problem;
      return EXIT_FAILED;
    }
  },
};

const WORDS = [
  'status',
  'hold',
  'release',
  'copy',
  'move',
  'complete',
  'incomplete',
  'free',
  ...CASES,
] as const;

type Asked = ReturnType<typeof readArgs>;

/** How many words follow; those of no other command may be left out. */
const OPERANDS: Readonly<Record<string, number>> = {
  copy: 1,
  move: 1,
  free: 1,
  list: 1,
  show: 2,
  settle: 3,
};
const OPTIONS = { file: { type: 'string' }, header: { type: 'string', multiple: true } } as const;
const STATUS_OPTIONS = { ...OPTIONS, json: { type: 'boolean' } } as const;
const CASE_OPTIONS = {
  ...STATUS_OPTIONS,
  number: { type: 'string' },
  by: { type: 'string' },
  why: { type: 'string' },
  unknown: { type: 'boolean' },
} as const;

function readArgs(args: readonly string[]) {
  // An option that the command does not have is an error: it may be meant for another.
  const isCase = CASES.some((each) => args.includes(each));
  const others = args.includes('status') ? STATUS_OPTIONS : OPTIONS;
  const options = (isCase ? CASE_OPTIONS : others) as typeof CASE_OPTIONS;
  const read = readArguments({ args: [...args], options, allowPositionals: true });
  const { file, header: headers = [], ...more } = read.values;
  const [first, operand = '', key, verdict] = read.positionals;
  const word = WORDS.find((each) => each === first);
  if (word === undefined) throw new UsageError(`Say one of ${WORDS.join(', ')}.`);
  const extra = read.positionals[1 + (OPERANDS[word] ?? 0)];
  if (extra !== undefined) throw new UsageError(`${extra} is one word too many.`);
  const takesFile = word === 'copy' || word === 'move';
  if (takesFile && operand === '') throw new UsageError(`Say where to ${word} the file.`);
  const needsLogin = OPERANDS[word] !== undefined && !takesFile && (word !== 'list' || operand);
  const login = needsLogin ? toLogin(operand) : null;
  if (needsLogin && login === null) throw new UsageError('Say the trading login of the account.');
  const isNamed = word === 'show' ? (key ?? more.number) : word !== 'settle' || key;
  if (!isNamed) throw new UsageError('Say the key of the order.');
  return { ...more, word, operand, login, file, headers, key, verdict };
}

async function act(asked: Asked, terminal: Terminal): Promise<number> {
  const { word, operand, login, file, headers, json } = asked;
  const { environment, err, out } = terminal;
  const config = readConfig(
    file === undefined ? environment : { ...environment, ORDER_STORE: file },
  );
  const forwarded = forwardedOf(headers, config.gatewayForwardHeaders);
  const account = login && accountOf(login, forwarded);
  const redisUrl = file === undefined ? config.redisUrl : null;
  const { orderStore } = config;
  if (redisUrl === null && orderStore === 'memory') {
    err(IN_MEMORY);
    return EXIT_FAILED;
  }
  const open = () =>
    openOperatorRecords({
      redisUrl,
      orderStore,
      prefix: config.redisPrefix,
      redisReplicas: config.redisReplicas,
      durability: config.redisDurability,
      max: config.orderRecordsMax,
      trailDays: config.orderTrailDays,
      onWarn: err,
    });
  const ofCase = CASES.find((each) => each === word);
  if (ofCase) return runCase(ofCase, { ...asked, account }, config, open, terminal);
  const isOfFile = word === 'copy' || word === 'move';
  if (isOfFile && redisUrl !== null) {
    throw new UsageError('Redis has its own copies: name a file by --file.');
  }
  const place = redisUrl === null ? orderStore : withoutPassword(redisUrl);
  const isInUse = (config.redisUrl === null) === (redisUrl === null);
  using opened = new DisposableStack();
  try {
    const records = opened.adopt(await open(), (each) => each.close());
    if (account) {
      out(`${await records.free(account)} order records count for the account no more`);
      return EXIT_OK;
    }
    if (word === 'hold' || word === 'release') {
      const isHeard = await records.hold(word === 'hold');
      return reportHold(word, isInUse ? (isHeard ? null : NO_REPLICA) : UNUSED, terminal);
    }
    if (records.file && isOfFile) {
      const isCopy = word === 'copy';
      const moved = isCopy ? records.file.copyTo(operand) : records.file.moveTo(operand);
      const then = isCopy ? '' : '; restart the service with it as ORDER_STORE';
      out(`${operand}: ${moved} order records${then}`);
      return EXIT_OK;
    }
    const isDeclared = word === 'complete' || word === 'incomplete';
    const status = await records.status(isDeclared ? word : null);
    const refusedFor = isInUse ? status.refusedFor : UNUSED;
    out((json ? statusJson : statusText)(place, { ...status, refusedFor }));
  } catch (problem) {
    if (word !== 'status' || !(problem instanceof RecordsUnavailableError)) throw problem;
    const silent = { place, records: null, refused: 'Redis does not answer', gap: null };
    const text = `${place}: nothing is known of the order records, and no order is taken`;
    out(json ? JSON.stringify(silent) : text);
    return EXIT_FAILED;
  }
  // A file from before the Redis, or from a process that was started without it.
  if (!json && redisUrl !== null && existsSync(orderStore)) out(`${orderStore}: ${UNUSED}`);
  return EXIT_OK;
}

function statusJson(place: string, { held, replicas, refusedFor, gap }: OperatorStatus): string {
  const beside = replicas !== null && { replicas };
  return JSON.stringify({ place, records: held, ...beside, refused: refusedFor, gap });
}

function statusText(place: string, { held, replicas, refusedFor, gap }: OperatorStatus): string {
  const beside = replicas === null ? '' : `, replicas: ${replicas}`;
  // A file's own reasons are whole sentences.
  const refusal = replicas === null ? refusedFor : refusedFor && `no order is taken: ${refusedFor}`;
  return `${place}: ${held} order records${beside}; ${refusal ?? gap ?? TAKEN}`;
}

/** `unheard`: why no process hears of it, so that in an outage nobody takes orders for held. */
function reportHold(
  word: 'hold' | 'release',
  unheard: string | null,
  { out, err }: Terminal,
): number {
  if (unheard !== null) {
    err(`${word} is noted, but nobody hears of it: ${unheard}`);
    return EXIT_FAILED;
  }
  out(
    word === 'hold'
      ? 'within two seconds no order is sent, until release'
      : 'orders are sent again',
  );
  return EXIT_OK;
}

const IN_MEMORY =
  'The order records are in the memory of the service, without a trail, and no command reaches them: name a file by --file or ORDER_STORE.';
const TAKEN = 'orders are taken';
const UNUSED = 'not in use, because REDIS_URL is set';
const NO_REPLICA =
  'no replica is connected; REDIS_URL and REDIS_PREFIX must be those of the service';
