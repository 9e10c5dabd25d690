import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import { lostVerdict, type Seen } from '../lost-verdict.ts';
import { pause } from '../network.ts';
import { onClick } from '../on-click.ts';
import { ordersReceived } from '../sandbox.ts';
import { bearer, GATEWAY, loginOf } from '../start-screen.ts';

const POSITIONS = `${GATEWAY}/trading/positions`;
const SYMBOL = 'AAPL';
/** The usual pause of an app before it repeats a lost request. */
const REPEAT_MS = 1_000;

const ROWS: readonly (readonly [name: string, figure: (seen: Seen) => string | number])[] = [
  ['Sent by the app', ({ sent }) => `${sent} ×`],
  ['Outcome in the app', ({ outcome }) => outcome],
  ['Orders at the gateway', ({ received }) => received],
  ['New positions', ({ opened }) => opened],
];

/** Both apps place an order, lose its answer, and send it again. Then the orders at the gateway are counted. */
export function startLostLine(app: App): void {
  const verdict = find('lost-verdict', HTMLElement);

  function draw(rest?: Seen, graph?: Seen): void {
    const cell = (seen: Seen | undefined, figure: (typeof ROWS)[number][1]) =>
      h('td', {}, seen ? figure(seen) : '–');
    find('lost-rows', HTMLElement).replaceChildren(
      ...ROWS.map(([name, figure]) =>
        h('tr', {}, h('th', { scope: 'row' }, name), cell(rest, figure), cell(graph, figure)),
      ),
    );
  }

  onClick(find('lost-run', HTMLButtonElement), async () => {
    setText(verdict, 'The connection drops in both apps …');
    try {
      const rest = await countOrder(app, buyOverRest);
      draw(rest);
      const graph = await countOrder(app, buyOverGraph);
      draw(rest, graph);
      setText(verdict, lostVerdict(rest, graph));
    } catch (error) {
      setText(verdict, '');
      throw error;
    }
  });
}

/** Buys by `buy`, over a connection that drops once, and counts the requests and their results. */
async function countOrder(
  app: App,
  buy: (app: App, send: typeof fetch) => Promise<string>,
): Promise<Seen> {
  let sent = 0;
  // The first order arrives, but its answer does not.
  const send: typeof fetch = async (input, init) => {
    const isOrder = String(init?.body).includes(SYMBOL);
    if (isOrder) sent += 1;
    const isLost = isOrder && sent === 1;
    const answer = await fetch(input, init);
    if (isLost) throw new TypeError('The connection dropped.');
    return answer;
  };
  const login = loginOf(await app.token({ force: false }));
  const ordersBefore = await ordersReceived(login);
  const positionsBefore = await positionsOf(app);
  const outcome = await buy(app, send);
  const received = (await ordersReceived(login)) - ordersBefore;
  const opened = (await positionsOf(app)) - positionsBefore;
  return { sent, outcome, received, opened };
}

/** Buys like an app without keys, which cannot know that the first request arrived. */
async function buyOverRest(app: App, send: typeof fetch): Promise<string> {
  const order = { symbol: SYMBOL, direction: 'buy', type: 'unit', amount: 1 };
  const headers = { ...(await bearerOf(app)), 'content-type': 'application/json' };
  const place = () => send(POSITIONS, { method: 'POST', headers, body: JSON.stringify(order) });
  const answer = await place().catch(() => pause(REPEAT_MS).then(place));
  if (!answer.ok) return `answered ${answer.status}`;
  const { success } = (await answer.json()) as { readonly success?: boolean };
  return success ? 'accepted' : 'rejected';
}

async function buyOverGraph(app: App, send: typeof fetch): Promise<string> {
  const phone = app.anotherClient(send);
  const form = { symbol: SYMBOL, side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
  const outcome = await phone.orders.ticket().place(form);
  phone.dispose();
  return outcome.status;
}

/** The number of open positions in the symbol, read from the gateway directly. */
async function positionsOf(app: App): Promise<number> {
  const answer = await fetch(POSITIONS, { headers: await bearerOf(app) });
  if (!answer.ok) throw new Error('The gateway does not answer. Try again when the fault is over.');
  const { positions } = (await answer.json()) as { positions: readonly { symbol: string }[] };
  return positions.filter(({ symbol }) => symbol === SYMBOL).length;
}

async function bearerOf(app: App) {
  return bearer(await app.token({ force: false }));
}
