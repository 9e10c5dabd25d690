import type { Position } from '../../../../client/src/generated/rows.ts';
import type { AccountState } from '../../../../client/src/live/states.ts';
import { announce } from '../announce.ts';
import type { App } from '../app.ts';
import { find, h, setText } from '../dom.ts';
import {
  formatMoney,
  formatPrice,
  formatProfit,
  formatTime,
  formatUnits,
  plural,
  toneOf,
} from '../format.ts';
import { onClick } from '../on-click.ts';

const WORDS: Readonly<Record<AccountState['status'], string>> = {
  CONNECTING: 'connecting',
  LIVE: 'the account follows the gateway',
  DELAYED: 'the gateway does not answer; the account stands still',
  OFFLINE: 'not connected',
};

/** Shows the account as it changes, also after its socket was killed. */
export function startLiveAccount(app: App): void {
  const body = find('live-rows', HTMLTableSectionElement);
  // An unchanged position is the same object, and keeps its table row.
  const rows = new WeakMap<Position, HTMLTableRowElement>();
  let lastStatus: AccountState['status'] | null = null;

  app.client.account(({ positions, totals, session, asOf, status }) => {
    for (const position of positions ?? []) {
      if (!rows.has(position)) rows.set(position, rowOf(position));
    }
    body.replaceChildren(...(positions ?? []).flatMap((position) => rows.get(position) ?? []));
    find('live-empty', HTMLElement).hidden = positions === null || positions.length > 0;
    setText(find('live-count', HTMLElement), totals ? plural(totals.count, 'position') : '–');
    const total = find('live-total', HTMLElement);
    setText(total, formatProfit(totals?.profit));
    total.className = toneOf(totals?.profit);
    setText(find('live-as-of', HTMLElement), formatTime(asOf));
    setText(find('live-equity', HTMLElement), formatMoney(session?.equity));
    setText(find('live-balance', HTMLElement), formatMoney(session?.balance));
    for (const pill of document.querySelectorAll('.live-status')) {
      pill.setAttribute('data-status', status);
      setText(pill, status);
    }
    setText(find('live-status-words', HTMLElement), WORDS[status]);
    // The first status is not announced.
    const isFirst = lastStatus === null;
    if (!isFirst && lastStatus !== status) announce(`Account ${status}: ${WORDS[status]}.`);
    lastStatus = status;
  });
  onClick(find('live-kill', HTMLButtonElement), () => app.line.kill());
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
