import {
  createClient,
  type Position,
  type PositionsState,
  type TypedText,
} from 'trading-graph-client';

interface SignIn {
  readonly login: { readonly accessToken?: string; readonly message?: string | null } | null;
}

const SIGN_IN: TypedText<SignIn, { input: { email: string; password: string } }> = `
  mutation SignIn($input: LoginInput!) {
    login(input: $input) {
      ... on LoginSuccess { accessToken }
      ... on LoginRejected { message }
    }
  }`;

const { env, stdout } = process;
const url = env.TRADING_GRAPH_URL ?? 'http://127.0.0.1:4000/graphql';
const email = env.TRADING_GRAPH_EMAIL ?? 'demo@example.com';
const password = env.TRADING_GRAPH_PASSWORD ?? 'demo';
const hasColors = stdout.isTTY && !env.NO_COLOR;

const STATUS_COLORS = { LIVE: 32, DELAYED: 33, OFFLINE: 31 };

let token: string | null = null;
let refusal = 'Nobody is signed in.';
let shown: PositionsState | null = null;
let hasEnded = false;

const client = createClient({
  url,
  async token({ force }) {
    if (force || token === null) token = await signIn();
    return token;
  },
  onSignedOut() {
    end();
    console.error(refusal);
    process.exitCode = 1;
  },
});

/** Null where the server refuses, which ends the ticker. Throws where it cannot be reached, which is tried again. */
async function signIn(): Promise<string | null> {
  const input = { email, password };
  const { data, errors } = await client.mutate(SIGN_IN, { input }, { anonymous: true });
  const answer = data?.login;
  if (answer == null) throw errors[0] ?? new Error('The server gave no answer.');
  refusal = answer.message ?? refusal;
  return answer.accessToken ?? null;
}

const show = stdout.isTTY ? redraw : writeChanges;
const stop = client.positions(show, { intervalMs: 500 });
if (stdout.isTTY) {
  // The alternate screen, without a cursor: what was in the terminal before is there again afterwards.
  stdout.write('\x1b[?1049h\x1b[?25l');
  stdout.on('resize', () => redraw(client.positions.state()));
}
process.once('SIGINT', end);
process.once('SIGTERM', end);
// The reader of a pipe may leave first.
stdout.on('error', end);

function end(): void {
  if (hasEnded) return;
  hasEnded = true;
  stop();
  client.dispose();
  if (stdout.isTTY) stdout.write('\x1b[?25h\x1b[?1049l');
}

function redraw({ status, positions, totals, asOf, error }: PositionsState): void {
  if (hasEnded) return;
  const { columns = 80, rows = 24 } = stdout;
  const since = status === 'LIVE' || asOf === null ? '' : ` as of ${asOf.toLocaleTimeString()}`;
  const heading = `${colored(status, STATUS_COLORS[status])}${since}  ${email}`;
  // The heading, a line between, the sums, and the line in which a terminal would scroll.
  const room = Math.max(0, rows - 5);
  const hidden = positions.length - room;
  const lines = [
    heading,
    '',
    ...positions.slice(0, room).map((position) => line(position, columns)),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
    totals === null ? (error?.message ?? 'Connecting…') : `Profit ${signed(totals.profit)}`,
  ];
  stdout.write(`\x1b[H${lines.map((text) => `${text}\x1b[K\n`).join('')}\x1b[J`);
}

function writeChanges(state: PositionsState): void {
  if (hasEnded) return;
  const former = new Set(shown?.positions);
  const ids = new Set(state.positions.map(({ id }) => id));
  const closed = (shown?.positions ?? []).filter(({ id }) => !ids.has(id));
  const at = new Date().toISOString();
  const lines = [
    ...(state.status === shown?.status ? [] : [state.status]),
    // A position that has not changed is the same object as before.
    ...state.positions
      .filter((position) => !former.has(position))
      .map((position) => line(position)),
    ...closed.map(({ symbol, side }) => `${symbol} ${side} closed`),
  ];
  shown = state;
  for (const text of lines) stdout.write(`${at} ${text}\n`);
}

function line({ symbol, name, side, units, priceCurrent, digits, profit }: Position, columns = 0) {
  const price = priceCurrent?.toFixed(digits ?? 2) ?? '–';
  const figures = `${(side ?? '').padEnd(4)} ${String(units ?? '–').padStart(10)} ${price.padStart(12)} `;
  const result = signed(profit).padStart(12);
  const color = (profit ?? 0) === 0 ? 0 : (profit ?? 0) > 0 ? 32 : 31;
  const room = columns - symbol.padEnd(14).length - figures.length - result.length - 2;
  const rest = room > 0 ? `  ${(name ?? '').slice(0, room)}` : '';
  return `${symbol.padEnd(14)}${figures}${colored(result, color)}${rest}`;
}

function signed(value: number | null): string {
  return value === null ? '–' : `${value > 0 ? '+' : ''}${value.toFixed(2)}`;
}

function colored(text: string, color: number): string {
  return hasColors && color !== 0 ? `\x1b[${color}m${text}\x1b[0m` : text;
}
