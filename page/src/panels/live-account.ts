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
  formatTime,
  formatUnits,
  plural,
  toneOf,
} from '../format.ts';
import type { LineObserver, LiveEvent } from '../live-line.ts';
import type { LookBack } from '../look-back.ts';
import { onClick } from '../on-click.ts';
import { sandbox } from '../sandbox.ts';

const WATCHERS = 10;
const CUT_MS = 5_000;
const LOG_LINES = 6;

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
  // A position that has not changed is the same object, and keeps its row.
  const rows = new WeakMap<Position, HTMLTableRowElement>();

  new CodeBox('live-code', app, {
    document: LIVE_ACCOUNT,
    client: `const stop = client.account((account) => {
  const { positions, orders, session } = account;
  console.log(positions, orders, session);
  // 'LIVE', 'DELAYED' or 'OFFLINE', and since when
  console.log(account.status, account.asOf);
});`,
  });

  function draw({ positions: known, totals, session, asOf }: AccountState): void {
    const positions = known ?? [];
    for (const position of positions) {
      if (!rows.has(position)) rows.set(position, rowOf(position));
    }
    body.replaceChildren(...positions.flatMap((position) => rows.get(position) ?? []));
    find('live-empty', HTMLElement).hidden = positions.length > 0 || asOf === null;
    setText(find('live-count', HTMLElement), totals ? plural(totals.count, 'position') : '–');
    const total = find('live-total', HTMLElement);
    setText(total, formatProfit(totals?.profit));
    total.className = toneOf(totals?.profit);
    drawSockets();
    setText(find('live-as-of', HTMLElement), formatTime(asOf));
    setText(find('live-events', HTMLElement), String(log.events));
    setText(find('live-equity', HTMLElement), formatMoney(session?.equity));
    setText(find('live-balance', HTMLElement), formatMoney(session?.balance));
    const fetchedAt = session && new Date(session.fetchedAt);
    setText(find('live-fetched-at', HTMLElement), formatTime(fetchedAt));
  }

  let watching = 0;
  const drawSockets = () => {
    const isOffline = app.client.account.state().status === 'OFFLINE';
    setText(find('live-sockets', HTMLElement), String(isOffline ? 0 : 1 + watching));
  };
  past.onShown(draw);
  app.calls.onChange(() => {
    const rate = app.calls.rate('getOpenPositions');
    setText(find('live-polls', HTMLElement), rate?.toFixed(1) ?? '–');
  });
  onClick(find('live-cut', HTMLButtonElement), async () => {
    await sandbox.fail({ operation: 'getOpenPositions', kind: 'reset-before', forMs: CUT_MS });
    log.note('The gateway resets every poll for 5 seconds.');
  });
  onClick(find('live-kill', HTMLButtonElement), () => app.line.kill());
  startWatchers(app, (count) => {
    watching = count;
    drawSockets();
  });
}

function rowOf(position: Position): HTMLTableRowElement {
  const { symbol, name, side, units, priceCurrent, digits, profit } = position;
  return h(
    'tr',
    {},
    h(
      'th',
      { scope: 'row' },
      h('b', {}, symbol),
      h('span', { class: 'name', dir: 'auto' }, name ?? ''),
    ),
    h('td', { class: 'size' }, h('span', { class: 'side' }, side ?? ''), ` ${formatUnits(units)}`),
    h('td', { class: 'number price' }, formatPrice(priceCurrent, digits)),
    h('td', { class: `number ${toneOf(profit)}` }, formatProfit(profit)),
  );
}

/** Ten more clients with a socket each: the gateway is polled once for all of them. */
function startWatchers(app: App, show: (count: number) => void): void {
  const button = find('live-watch', HTMLButtonElement);
  let watchers: readonly Client[] = [];

  function change(count: number): void {
    for (const watcher of watchers) watcher.dispose();
    watchers = Array.from({ length: count }, () => app.anotherClient());
    for (const watcher of watchers) watcher.account(() => {});
    button.textContent = count === 0 ? 'Open ten watchers' : 'Close the watchers';
    show(count);
    announce(`${count} watchers are open.`);
  }

  onClick(button, () => change(watchers.length === 0 ? WATCHERS : 0));
  app.onUserChange(() => change(watchers.length));
}
