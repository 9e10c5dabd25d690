import type { ScreenData } from './documents.ts';
import { find, h, setText } from './dom.ts';
import { formatMoney, formatMs, formatPrice, formatProfit } from './format.ts';
import { endOf, type Failure, type Field, type Way } from './start-screen.ts';

type Found = { readonly [Name in Field]: NonNullable<ScreenData[Name]> };
type Row = readonly [name: string, about: string, figure: string];

interface Part {
  readonly name: string;
  /** It needs all of them. */
  readonly fields: readonly Field[];
  readonly rows: (found: Found) => readonly Row[];
}

/** The parts of the start screen, which come or fail one by one. */
export const PARTS: readonly Part[] = [
  {
    name: 'equity',
    fields: ['session'],
    rows: ({ session: { equity, currency, balance } }) => [
      [`${formatMoney(equity)} ${currency ?? ''}`, '', ''],
      ['Balance', '', formatMoney(balance)],
    ],
  },
  {
    name: 'positions',
    fields: ['positions'],
    rows: ({ positions }) =>
      positions.map(({ symbol, instrument, profit }) => [
        symbol,
        instrument?.name ?? '',
        formatProfit(profit),
      ]),
  },
  {
    name: 'orders',
    fields: ['orders'],
    rows: ({ orders }) =>
      orders.map(({ symbol, kind, priceOpen, digits }) => [
        symbol,
        kind?.toLowerCase() ?? '',
        formatPrice(priceOpen, digits),
      ]),
  },
  {
    name: 'watch list',
    fields: ['watchList'],
    rows: ({ watchList }) =>
      watchList.flatMap((each) => (each ? [[each.id, each.name, `1:${each.leverage}`]] : [])),
  },
  {
    name: 'payout',
    fields: ['withdrawalMethods', 'customerId'],
    rows: ({ withdrawalMethods, customerId }) => [
      ...withdrawalMethods
        .slice(0, 1)
        .map(({ title, status }): Row => [title ?? '', '', status?.toLowerCase() ?? '']),
      ['Id', '', customerId],
    ],
  },
];

/** Why the part is not there; none while it has come, or may still come. */
export function failuresOf({ missing }: Way, { fields }: Part): readonly Failure[] {
  return fields.flatMap((field) => missing[field] ?? []);
}

/** The rows of the part; null where it has not come. */
export function rowsOf({ data }: Way, { fields, rows }: Part): readonly Row[] | null {
  return fields.every((field) => data[field] != null) ? rows(data as Found) : null;
}

/** A phone that draws each part of the screen as it comes. */
export class Phone {
  readonly #clock = h('span', { class: 'clock' });
  readonly #parts = PARTS.map((part) => {
    const count = h('span', { class: 'count' });
    const list = h('ul');
    const element = h(
      'section',
      { 'data-part': part.name, 'data-state': 'waiting' },
      h('h3', {}, part.name, count),
      list,
    );
    return { part, element, count, list };
  });

  constructor(id: string) {
    find(id, HTMLElement).append(
      h('div', { class: 'status-bar', 'aria-hidden': 'true' }, this.#clock),
      ...this.#parts.map(({ element }) => element),
    );
  }

  draw(way: Way | null): void {
    const ended = endOf(way?.calls ?? []);
    setText(this.#clock, ended === 0 ? '' : formatMs(ended));
    for (const { part, element, count, list } of this.#parts) {
      const [failure] = way ? failuresOf(way, part) : [];
      const rows = way && !failure ? rowsOf(way, part) : null;
      const state = failure ? 'missing' : rows ? 'here' : 'waiting';
      // What stands there already does not appear once more.
      if (element.dataset.state === state && state !== 'missing') continue;
      element.dataset.state = state;
      const isList = rows !== null && !['equity', 'payout'].includes(part.name);
      setText(count, isList ? String(rows.length) : '');
      list.replaceChildren(
        ...(failure ? [h('li', { class: 'reason' }, `blank: ${failure.message}`)] : []),
        ...(rows ?? []).map(([name, about, figure]) =>
          h(
            'li',
            {},
            h('b', {}, name),
            h('span', { class: 'name' }, about),
            h('span', { class: toneOf(figure) }, figure),
          ),
        ),
        ...(rows?.length === 0 ? [h('li', { class: 'name' }, 'none')] : []),
      );
    }
  }
}

function toneOf(figure: string): string {
  return figure.startsWith('+') ? 'profit' : figure.startsWith('−') ? 'loss' : '';
}
