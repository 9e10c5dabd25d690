import type { Client } from '../../../client/src/create-client.ts';
import type { Position } from '../../../client/src/generated/rows.ts';
import type { AccountState } from '../../../client/src/live/states.ts';
import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { CodeBox } from '../code-box.ts';
import { LIVE_ACCOUNT } from '../documents.ts';
import { find, h, setText } from '../dom.ts';
import {
  formatMoney,
  formatMs,
  formatPrice,
  formatProfit,
  formatRate,
  formatTime,
  formatUnits,
  plural,
} from '../format.ts';
import type { LineObserver, LiveEvent } from '../live-line.ts';
import type { LookBack } from '../look-back.ts';
import { onClick } from '../on-click.ts';
import { sandbox } from '../sandbox.ts';
import { Sparkline } from '../sparkline.ts';

const WATCHERS = 10;
const CUT_MS = 5_000;
const LOG_LINES = 6;

interface Row {
  readonly element: HTMLTableRowElement;
  readonly sparkline: Sparkline;
  /** The trend goes on with what is new, and shows no past twice. */
  update(position: Position, isPast: boolean): void;
}

/** Describes the traffic of the live connection in a few lines under the list. */
export class LineLog implements LineObserver {
  #lostAtMs: number | null = null;
  #after: string | null = null;
  #isFirst = true;
  events = 0;

  subscribed(after: string | null): void {
    this.#after = after;
    this.#isFirst = true;
  }

  closed(): void {
    this.#lostAtMs = performance.now();
    this.note('The socket is closed.');
  }

  event({ snapshot, rows, bytes }: LiveEvent): void {
    this.events += 1;
    if (!this.#isFirst) return;
    this.#isFirst = false;
    const size = `${plural(rows, 'row')}, ${bytes} bytes`;
    if (snapshot) this.note(`Subscribed: the whole account came, ${size}.`);
    else {
      const lost =
        this.#lostAtMs === null ? '' : ` after ${formatMs(performance.now() - this.#lostAtMs)}`;
      this.note(`Resumed${lost} at cursor ${this.#after?.slice(-8)}: changes alone, ${size}.`);
      announce('The list goes on where it stopped.');
    }
    this.#lostAtMs = null;
  }

  note(text: string): void {
    const log = find('live-log', HTMLElement);
    log.prepend(h('li', {}, h('time', {}, formatTime(new Date())), ` ${text}`));
    while (log.children.length > LOG_LINES) log.lastElementChild?.remove();
  }
}

/** The account as it changes, and what becomes of it when the gateway or the socket is gone. */
export function startLiveAccount(app: App, past: LookBack, log: LineLog): void {
  const body = find('live-rows', HTMLTableSectionElement);
  const rows = new Map<string, Row>();

  new CodeBox('live-code', app, {
    document: LIVE_ACCOUNT,
    client: `const stop = client.account((account) => {
  const { positions, orders, session } = account;
  console.log(positions, orders, session);
  // 'LIVE', 'DELAYED' or 'OFFLINE', and since when
  console.log(account.status, account.asOf);
});`,
  });

  function draw({ positions, totals, session, asOf }: AccountState, isPast: boolean): void {
    const ids = new Set(positions.map(({ id }) => id));
    for (const [id, { element }] of rows) {
      if (ids.has(id)) continue;
      element.remove();
      rows.delete(id);
    }
    for (const [at, position] of positions.entries()) {
      let row = rows.get(position.id);
      if (row === undefined) {
        row = createRow(position);
        rows.set(position.id, row);
      }
      row.update(position, isPast);
      if (body.children[at] !== row.element)
        body.insertBefore(row.element, body.children[at] ?? null);
    }
    find('live-empty', HTMLElement).hidden = positions.length > 0 || asOf === null;
    setText(find('live-count', HTMLElement), plural(totals?.count ?? 0, 'position'));
    const total = find('live-total', HTMLElement);
    setText(total, formatProfit(totals?.profit));
    total.className = (totals?.profit ?? 0) < 0 ? 'loss' : 'profit';
    setText(find('live-as-of', HTMLElement), formatTime(asOf));
    setText(find('live-events', HTMLElement), String(log.events));
    for (const [name, figure] of [
      ['equity', session?.equity],
      ['balance', session?.balance],
    ] as const) {
      setText(find(`live-${name}`, HTMLElement), formatMoney(figure));
    }
    const fetchedAt = session && new Date(session.fetchedAt);
    setText(find('live-fetched-at', HTMLElement), formatTime(fetchedAt));
  }

  past.onShown((state, atMs) => draw(state, atMs !== null));
  app.calls.onChange(() => {
    const rate = app.calls.rate('getOpenPositions');
    setText(find('live-polls', HTMLElement), rate === null ? '–' : formatRate(rate));
  });
  onClick(find('live-cut', HTMLButtonElement), async () => {
    await sandbox.fail({ operation: 'getOpenPositions', kind: 'reset-before', forMs: CUT_MS });
    log.note('The gateway resets every poll for 5 seconds.');
  });
  onClick(find('live-kill', HTMLButtonElement), () => app.line.kill());
  startWatchers(app);
}

function createRow(first: Position): Row {
  const sparkline = new Sparkline();
  const price = h('td', { class: 'number price' });
  const profit = h('td', { class: 'number' });
  const units = h('td', { class: 'size' });
  const element = h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('b', {}, first.symbol),
      h('span', { class: 'name' }, first.name ?? ''),
    ),
    units,
    price,
    h('td', { class: 'spark' }, sparkline.element),
    profit,
  );
  let last: Position | null = null;
  return {
    element,
    sparkline,
    update(position, isPast) {
      if (position === last) return;
      last = position;
      const side = h(
        'span',
        { class: `side ${position.side?.toLowerCase()}` },
        position.side ?? '',
      );
      units.replaceChildren(side, ` ${formatUnits(position.units)}`);
      setText(price, formatPrice(position.priceCurrent, position.digits));
      setText(profit, formatProfit(position.profit));
      profit.className = `number ${(position.profit ?? 0) < 0 ? 'loss' : 'profit'}`;
      if (position.profit !== null && !isPast) sparkline.add(position.profit);
    },
  };
}

/** Ten more clients with a socket each: the gateway is polled once for all of them. */
function startWatchers(app: App): void {
  const button = find('live-watch', HTMLButtonElement);
  const list = find('live-watchers', HTMLElement);
  let watchers: readonly Client[] = [];

  function open(): void {
    watchers = Array.from({ length: WATCHERS }, () => app.anotherClient());
    list.replaceChildren(
      ...watchers.map((watcher, at) => {
        const total = h('b', {}, '…');
        watcher.positions(({ totals, status }) => {
          setText(total, status === 'LIVE' ? formatProfit(totals?.profit) : status.toLowerCase());
        });
        return h('li', {}, h('span', {}, `Watcher ${at + 1}`), total);
      }),
    );
  }

  function close(): void {
    for (const watcher of watchers) watcher.dispose();
    watchers = [];
    list.replaceChildren();
  }

  function show(): void {
    list.hidden = watchers.length === 0;
    button.textContent = watchers.length === 0 ? 'Open ten watchers' : 'Close the watchers';
    setText(find('live-sockets', HTMLElement), String(1 + watchers.length));
  }

  onClick(button, () => {
    if (watchers.length === 0) open();
    else close();
    show();
    announce(watchers.length === 0 ? 'The watchers are closed.' : 'Ten watchers are open.');
  });
  app.onUserChange(() => {
    if (watchers.length === 0) return;
    close();
    open();
  });
}
