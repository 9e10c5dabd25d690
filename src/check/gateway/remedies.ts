import type { Answer } from '../../gateway/exchange.ts';
import type { Shape } from '../../gateway/shape.ts';
import { isRow } from '../../gateway/wire/scalars.ts';
import { type Comparison, compare, type SeenField } from './compare.ts';

export const ALL_AT_ONCE =
  'its path may ask for all at once (`/trading/positions?limit=10000`, by its own names), else the gateway has to';

/** Whether each row lacks the field, and none has it null. */
export function isAbsent({ seen }: SeenField): boolean {
  return Object.keys(seen).join() === 'missing';
}

/** Sentences for what can be recognized in an answer that does not fit. */
export function remediesFor(shape: Shape, json: unknown, comparison: Comparison): string[] {
  const place = placeIn(shape, json);
  const within = place === null ? comparison : compare(shape, place.inner, 0);
  const texts = textsIn(shape, place === null ? json : place.inner);
  return [
    ...(place === null ? [] : [`The answer is inside of another: it is \`${place.line}\`.`]),
    ...namesIn(within),
    ...(texts === 0
      ? []
      : [`${texts} numbers or times are texts, which are read exactly: nothing is to be done.`]),
  ];
}

/** Where in another value the answer of this shape is, and the expression for it; null where it is in its place. */
function placeIn(
  shape: Shape,
  json: unknown,
  at = 'body',
  depth = 0,
): { inner: unknown; line: string } | null {
  const own = likenessOf(shape, json);
  if (own > 0) return depth === 0 ? null : { inner: json, line: at };
  const [list, ...others] = shape.kind === 'object' ? Object.entries(shape.fields) : [];
  if (Array.isArray(json) && list?.[1].shape.kind === 'list' && others.length === 0) {
    return { inner: { [list[0]]: json }, line: `({ ${list[0]}: ${at} })` };
  }
  if (!isRow(json) || depth === 2) return null;
  for (const [name, value] of Object.entries(json)) {
    const found = placeIn(shape, value, `${at}.${name}`, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** How many names of the shape a value has in any casing; a list is one. */
function likenessOf(shape: Shape, value: unknown): number {
  if (shape.kind === 'list') return Number(Array.isArray(value));
  if (shape.kind !== 'object' || !isRow(value)) return 0;
  const names = new Set(Object.keys(value).map(plain));
  return Object.keys(shape.fields).filter((name) => names.has(plain(name))).length;
}

const MAX_LINES = 20;

/** The fields that are there by another name: by the same words in another casing or order, or by one of them. */
function namesIn({ fields, unknown }: Comparison): string[] {
  const lines: string[] = [];
  const left: string[] = [];
  for (const { path } of fields.filter(isAbsent)) {
    const [parent, name] = parted(path);
    const others = unknown.map((each) => parted(each.path)).filter(([of]) => of === parent);
    const [best] = others
      .map(([, other]) => ({ other, shared: sharedWords(name, other) }))
      .toSorted((a, b) => b.shared - a.shared);
    if (best !== undefined && best.shared > 0) lines.push(`${name}: row.${best.other}`);
    else if (best !== undefined)
      left.push(
        `${name} (one of ${others
          .map(([, other]) => other)
          .slice(0, 5)
          .join(', ')}?)`,
      );
  }
  const sentences: string[] = [];
  if (lines.length > 0) {
    sentences.push(`Names differ: \`${lines.slice(0, MAX_LINES).join(', ')}\`.`);
  }
  if (left.length > 0) sentences.push(`By no name that is known: ${left.join(', ')}.`);
  return sentences;
}

function parted(path: string): readonly [parent: string, name: string] {
  const at = path.lastIndexOf('.') + 1;
  return [path.slice(0, at), path.slice(at)];
}

function plain(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase();
}

/** A name that is the same but for its casing has more than any other. */
function sharedWords(name: string, other: string): number {
  if (plain(name) === plain(other)) return 100;
  const wordsOf = (text: string) =>
    new Set(text.split(/[_-]|(?=[A-Z])/).map((word) => word.toLowerCase()));
  const words = wordsOf(other);
  return [...wordsOf(name)].filter((word) => words.has(word)).length;
}

const NEXT = /^(next|next_?(page|cursor|token|url)|cursor)$/i;
const MORE = /^has_?(more|next)$/i;
const TOTAL = /^total(_?(count|items|records|results))?$/i;

/** What says that the answer is one page of several; null where nothing does, and where the interface itself has pages. */
export function pagingIn(
  shape: Shape,
  json: unknown,
  { headers }: Pick<Answer, 'headers'>,
): string | null {
  const described = shape.kind === 'object' ? Object.keys(shape.fields) : [];
  if (described.some((name) => [NEXT, MORE, TOTAL].some((sign) => sign.test(name)))) return null;
  if (/rel="?next/i.test(headers.link ?? '')) return 'Link: rel=next';
  if (!isRow(json)) return null;
  const inner = Object.values(json)
    .filter(isRow)
    .flatMap(Object.entries<unknown>);
  const entries = [...Object.entries(json), ...inner];
  const rows = Math.max(
    0,
    ...entries.map(([, value]) => (Array.isArray(value) ? value.length : 0)),
  );
  const found = entries.find(
    ([name, value]) =>
      (NEXT.test(name) && Boolean(value)) ||
      (MORE.test(name) && value === true) ||
      (TOTAL.test(name) && typeof value === 'number' && value > rows),
  );
  return found?.[0] ?? null;
}

/** How many values that are numbers in the interface are written as texts. */
function textsIn(shape: Shape, value: unknown): number {
  if (shape.kind === 'number') return Number(typeof value === 'string');
  if (shape.kind === 'list' && Array.isArray(value)) {
    return value.reduce<number>((sum, each) => sum + textsIn(shape.of, each), 0);
  }
  if (shape.kind !== 'object' || !isRow(value)) return 0;
  return Object.entries(shape.fields).reduce(
    (sum, [name, field]) => sum + textsIn(field.shape, value[name]),
    0,
  );
}
