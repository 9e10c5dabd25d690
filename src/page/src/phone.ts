import type { ScreenData, ScreenRow } from './documents.ts';
import { find, h } from './dom.ts';
import { formatMoney, formatPrice, formatProfit, formatTime } from './format.ts';
import type { Failure, Field, Way } from './start-screen.ts';

type Found = { readonly [Name in Field]: NonNullable<ScreenData[Name]> };
type Row = readonly [name: string, about: string | null, figure: string];

interface Part {
  readonly name: string;
  /** The part needs all of these fields. */
  readonly fields: readonly Field[];
  readonly rows: (found: Found) => readonly Row[];
  /** What the rows' figures are. */
  readonly figure?: string;
  /** When the gateway gave the part, if known. */
  readonly asOf?: (way: Way) => Date | null | undefined;
}

/** The parts of the start screen, which arrive or fail one by one. */
export const PARTS: readonly Part[] = [
  {
    name: 'Equity',
    fields: ['session'],
    rows: ({ session: { equity, currency, balance } }) => [
      [`${formatMoney(equity)} ${currency ?? ''}`, '', ''],
      ['Balance', '', formatMoney(balance)],
    ],
    asOf: ({ data: { session } }) => (session?.fetchedAt ? new Date(session.fetchedAt) : null),
  },
  {
    ...list('Positions', 'positions', 'profit', ({ profit }) => formatProfit(profit)),
    asOf: ({ positionsAsOf }) => positionsAsOf,
  },
  list('Orders', 'orders', 'price', ({ priceOpen = null, digits = null }) =>
    formatPrice(priceOpen, digits),
  ),
  list('Watch list', 'watchList', 'leverage', ({ leverage }) => `1:${leverage}`),
  {
    name: 'Payout',
    fields: ['withdrawalMethods', 'customerId'],
    rows: ({ withdrawalMethods, customerId }) => [
      ['Customer', '', customerId],
      ...withdrawalMethods.map(
        ({ title, status }): Row => [title ?? '', '', status?.toLowerCase() ?? ''],
      ),
    ],
  },
];

function list(
  name: string,
  field: 'positions' | 'orders' | 'watchList',
  figure: string,
  figureOf: (row: ScreenRow) => string,
): Part {
  const rows = (found: Found) =>
    found[field].flatMap((row): Row[] => (row ? [[row.symbol, row.name, figureOf(row)]] : []));
  return { name, fields: [field], rows, figure };
}

/** Why the part is missing; empty if it has arrived, or may still arrive. */
export function failuresOf({ missing }: Way, { fields }: Part): readonly Failure[] {
  return fields.flatMap((field) => missing[field] ?? []);
}

/** The rows of the part; null if it has not arrived. */
export function rowsOf({ data }: Way, { fields, rows }: Part): readonly Row[] | null {
  return fields.every((field) => data[field] != null) ? rows(data as Found) : null;
}

/** The parts whose title has the number of their rows. */
const COUNTED: ReadonlySet<string> = new Set(['Positions', 'Orders', 'Watch list']);

/** A phone that draws each part of the screen when the part arrives. */
export class Phone {
  readonly #parts = PARTS.map((part) => {
    const title = h('h3', {}, part.name);
    const rows = h('ul');
    const element = h('section', { 'data-part': part.name }, title, rows);
    return { part, element, title, rows };
  });

  constructor(id: string) {
    find(id, HTMLElement).append(...this.#parts.map(({ element }) => element));
  }

  draw(way: Way | undefined): void {
    for (const { part, element, title, rows } of this.#parts) {
      const [failure] = way ? failuresOf(way, part) : [];
      const found = way && !failure ? rowsOf(way, part) : null;
      const arrived = found ? 'here' : 'waiting';
      const state = failure ? 'missing' : arrived;
      // A part that is drawn already is not drawn again, but its failure may have changed.
      if (element.dataset.state === state && !failure) continue;
      element.dataset.state = state;
      const asOf = way && found && part.asOf?.(way);
      const isCounted = found !== null && COUNTED.has(part.name) && !asOf;
      title.replaceChildren(
        isCounted ? `${part.name} ${found.length}` : part.name,
        asOf ? h('time', {}, formatTime(asOf)) : h('span', {}, (found && part.figure) ?? ''),
      );
      const failed = failure ? [h('li', {}, textOf(failure))] : [];
      rows.replaceChildren(...failed, ...(found ?? []).map(toElement));
    }
  }
}

/** One sentence, short enough for two lines of a phone. */
function textOf({ call, reason }: Failure): string {
  const why = reason ?? 'failed';
  // A code of two words is wider than the phone, so it may break between its words.
  if (call === null) return why.replaceAll('_', ' ').toLowerCase();
  return `${call} ${/^\d+$/.test(why) ? `answered ${why}` : (WORDS[why] ?? why)}`;
}

const WORDS: Readonly<Record<string, string>> = {
  unreachable: 'is unreachable',
  offline: 'is unreachable: this device is offline',
  'broken off': 'broke off',
  'not JSON': 'answered no JSON',
  'not as expected': 'answered something else',
};

function toElement([name, about, figure]: Row): HTMLLIElement {
  return h(
    'li',
    {},
    h('b', {}, name),
    h('span', { class: 'name', dir: 'auto' }, about),
    h('span', { class: toneOf(figure) }, figure),
  );
}

function toneOf(figure: string): string {
  if (figure.startsWith('+')) return 'profit';
  return figure.startsWith('−') ? 'loss' : '';
}
