import {
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { pick, type Random } from '../../../src/sandbox/random.ts';

/** Fields of answers under other names whose values fit an argument of this name. */
const ALIKE: Readonly<Record<string, readonly string[]>> = {
  since: ['version'],
  after: ['cursor'],
  before: ['cursor'],
  ids: ['id', 'symbol'],
  search: ['name', 'description', 'id'],
};
const WHOLE_NUMBERS = [0, 1, 2, 10, 50, 250, 499, 500, 15_000];
const NUMBERS = [0, 0.5, 1, 100, 1e9];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789 é'];
const GIVEN = 0.4;
const LONGEST_NONSENSE = 400;
const LONGEST_LIST = 2_000;
const LONGEST_TEXT = 20_000;

type Fields = Readonly<Record<string, unknown>>;

/** Values that fit an argument's type, and others near them, with texts of the server's own answers. */
export class ArgumentValues {
  readonly #random: Random;
  /** The texts of answers, as ids, cursors, versions and names, by the name of their field. */
  readonly #texts: ReadonlyMap<string, readonly NamedText[]>;

  constructor(random: Random, answer: unknown) {
    this.#random = random;
    this.#texts = Map.groupBy(textsIn(answer), ({ name }) => name);
  }

  make(type: GraphQLInputType, name: string): unknown {
    if (isNonNullType(type)) return this.make(type.ofType, name);
    if (isListType(type)) {
      const length = Math.floor(this.#random() * 4);
      return Array.from({ length }, () => this.make(type.ofType, name));
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields());
      const given = type.isOneOf
        ? [pick(this.#random, fields)]
        : fields.filter((field) => isNonNullType(field.type) || this.#random() < GIVEN);
      return Object.fromEntries(
        given.map((field) => [field.name, this.make(field.type, field.name)]),
      );
    }
    if (isEnumType(type)) return pick(this.#random, type.getValues()).name;
    if (type.name === 'Boolean') return this.#random() < 0.5;
    if (type.name === 'Int') return pick(this.#random, WHOLE_NUMBERS);
    return type.name === 'Float' ? pick(this.#random, NUMBERS) : this.#text(name);
  }

  near(value: unknown, type: GraphQLInputType, name: string): unknown {
    if (isNonNullType(type)) return this.near(value, type.ofType, name);
    if (isListType(type) && Array.isArray(value)) return this.#nearList(value, type.ofType, name);
    if (isInputObjectType(type) && isFields(value) && !type.isOneOf) {
      const fields = Object.values(type.getFields());
      const given = fields.filter((one) => one.name in value);
      // More often a field that is there already: only so does any of it become large.
      const isGiven = given.length > 0 && this.#random() < 0.7;
      const field = pick(this.#random, isGiven ? given : fields);
      const { [field.name]: present, ...others } = value;
      if (!isNonNullType(field.type) && this.#random() < 0.15) return others;
      const isNew = present === undefined;
      const next = isNew
        ? this.make(field.type, field.name)
        : this.near(present, field.type, field.name);
      return { ...others, [field.name]: next };
    }
    const isText = typeof value === 'string' && !isEnumType(type) && this.#random() < 0.6;
    return isText ? this.#nearText(value, name) : this.make(type, name);
  }

  #nearList(list: readonly unknown[], of: GraphQLInputType, name: string): unknown {
    const draw = this.#random();
    if (draw < 0.4) return [...list, ...list, this.make(of, name)].slice(0, LONGEST_LIST);
    if (draw < 0.8) return [...list, ...Array.from({ length: 8 }, () => this.make(of, name))];
    return list.slice(0, Math.floor(list.length / 2));
  }

  #nearText(text: string, name: string): string {
    const next = pick(this.#random, [
      `${text} ${this.#text(name)}`,
      `${text}${text}`,
      text.slice(0, Math.ceil(text.length / 2)),
      text.slice(0, 1 + Math.floor(this.#random() * 3)),
      // A typo, which a fuzzy search has to match.
      `${text.slice(0, 2)}x${text.slice(3)}`,
    ]);
    return next.slice(0, LONGEST_TEXT);
  }

  #text(name: string): string {
    const alike = (ALIKE[name] ?? [name]).flatMap((one) => this.#texts.get(one) ?? []);
    if (this.#random() < 0.8 && alike.length > 0) return pick(this.#random, alike).text;
    const length = Math.floor(this.#random() ** 2 * LONGEST_NONSENSE);
    return Array.from({ length }, () => pick(this.#random, LETTERS)).join('');
  }
}

interface NamedText {
  readonly name: string;
  readonly text: string;
}

function textsIn(value: unknown, name = ''): NamedText[] {
  if (typeof value === 'string') return [{ name, text: value }];
  if (Array.isArray(value)) return value.flatMap((one) => textsIn(one, name));
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => textsIn(one, key));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
