import {
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { pick, type Random } from '../../../src/sandbox/random.ts';
import type { Vocabulary } from './vocabulary.ts';

const WHOLE_NUMBERS = [0, 1, 2, 10, 50, 250, 499, 500, 15_000];
const NUMBERS = [0, 0.5, 1, 100, 1e9];
const GIVEN = 0.4;
const LONGEST_LIST = 2_000;
const LONGEST_TEXT = 20_000;

type Fields = Readonly<Record<string, unknown>>;

/** Values that fit an argument's type, and others near them. */
export class ArgumentValues {
  readonly #random: Random;
  readonly #vocabulary: Vocabulary;

  constructor(random: Random, vocabulary: Vocabulary) {
    this.#random = random;
    this.#vocabulary = vocabulary;
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
    switch (type.name) {
      case 'Boolean':
        return this.#random() < 0.5;
      case 'Int':
        return pick(this.#random, WHOLE_NUMBERS);
      case 'Float':
        return pick(this.#random, NUMBERS);
      default:
        return this.#vocabulary.text(name, this.#random);
    }
  }

  near(value: unknown, type: GraphQLInputType, name: string): unknown {
    if (isNonNullType(type)) return this.near(value, type.ofType, name);
    if (isListType(type) && Array.isArray(value)) return this.#nearList(value, type.ofType, name);
    if (isInputObjectType(type) && isFields(value) && !type.isOneOf) {
      const fields = Object.values(type.getFields());
      const given = fields.filter((one) => one.name in value);
      // More often a copy of what is there already: only so does any of it become large.
      const isGiven = given.length > 0 && this.#random() < 0.7;
      const field = pick(this.#random, isGiven ? given : fields);
      const { [field.name]: present, ...others } = value;
      const isDropped = !isNonNullType(field.type) && this.#random() < 0.15;
      if (isDropped) return others;
      const next =
        present === undefined
          ? this.make(field.type, field.name)
          : this.near(present, field.type, field.name);
      return { ...others, [field.name]: next };
    }
    if (typeof value === 'string' && !isEnumType(type) && this.#random() < 0.6) {
      return this.#nearText(value, name);
    }
    return this.make(type, name);
  }

  #nearList(list: readonly unknown[], of: GraphQLInputType, name: string): unknown {
    const draw = this.#random();
    if (draw < 0.4) return [...list, ...list, this.make(of, name)].slice(0, LONGEST_LIST);
    if (draw < 0.8) return [...list, ...Array.from({ length: 8 }, () => this.make(of, name))];
    return list.slice(0, Math.floor(list.length / 2));
  }

  #nearText(text: string, name: string): string {
    const other = this.#vocabulary.text(name, this.#random);
    const next = pick(this.#random, [
      `${text} ${other}`,
      `${text}${text}`,
      text.slice(0, Math.ceil(text.length / 2)),
      text.slice(0, 1 + Math.floor(this.#random() * 3)),
      // A typo, which a fuzzy search has to match.
      `${text.slice(0, 2)}x${text.slice(3)}`,
    ]);
    return next.slice(0, LONGEST_TEXT);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
