import {
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  type OperationTypeNode,
} from 'graphql';
import { pick, type Random } from '../../src/sandbox/random.ts';

export interface RandomDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface DocumentTaste {
  readonly operation?: OperationTypeNode;
  /** Fields to leave out, as `Type.field`. */
  readonly without?: ReadonlySet<string>;
  /** Additional texts for arguments. */
  readonly texts?: readonly string[];
  readonly maxDepth?: number;
}

// Names with a meaning in generated code, or in objects that are used as maps.
const ALIASES = ['a', 'b', 'c', 'constructor', 'toString', 'then', 'run', 'source', 'target'];
const NASTY_ALIASES = ['__proto__', 'hasOwnProperty', 'valueOf', 'toJSON', 'leaf0', 'object1'];
const VARIABLES = ['x', 'run', 'constructor', 'value', 'toString', '__proto__', 'args', '_'];
const TEXTS = [
  '',
  'a',
  '"',
  '\\',
  '\n',
  '\u2028',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what would happen if it were one
  '`${1}`',
  "'); throw 1; ('",
  '*/',
  '\u0000',
  '😀',
];

/** A document that is almost always valid, and variables that mostly fit it. */
export function randomDocument(
  schema: GraphQLSchema,
  random: Random,
  taste: DocumentTaste = {},
): RandomDocument {
  return new Composer(schema, random, taste).document();
}

class Composer {
  readonly #schema: GraphQLSchema;
  readonly #random: Random;
  readonly #taste: DocumentTaste;
  readonly #definitions = new Map<string, string>();
  readonly #variables: Record<string, unknown> = {};
  readonly #fragments: { readonly name: string; readonly on: string; readonly text: string }[] = [];
  #aliases = 0;

  constructor(schema: GraphQLSchema, random: Random, taste: DocumentTaste) {
    this.#schema = schema;
    this.#random = random;
    this.#taste = taste;
  }

  document(): RandomDocument {
    const { operation = 'query', maxDepth = 5 } = this.#taste;
    const root = this.#schema.getRootType(operation);
    if (!root) throw new Error(`no ${operation}`);
    const fields = this.#fieldsOf(root);
    const selections =
      operation === 'subscription'
        ? this.#field(pick(this.#random, fields), root, maxDepth)
        : this.#selections(root, maxDepth);
    const definitions = [...this.#definitions.values()].join(', ');
    const head = definitions === '' ? operation : `${operation} Named(${definitions})`;
    const fragments = this.#fragments.map(
      ({ name, on, text }) => `fragment ${name} on ${on} ${text}`,
    );
    const text = [`${head} { ${selections} }`, ...fragments].join('\n');
    return { text, variables: this.#variables };
  }

  #flip(probability: number): boolean {
    return this.#random() < probability;
  }

  #fieldsOf(type: GraphQLCompositeType): GraphQLField<unknown, unknown>[] {
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    const { without } = this.#taste;
    return Object.values(type.getFields()).filter(({ name }) => !without?.has(`${type}.${name}`));
  }

  #selectionSet(type: GraphQLCompositeType, depth: number): string {
    return `{ ${this.#selections(type, depth)} }`;
  }

  #selections(type: GraphQLCompositeType, depth: number): string {
    const count = 1 + Math.floor(this.#random() * 5);
    return Array.from({ length: count }, () => this.#selection(type, depth)).join(' ');
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    if (depth > 0 && this.#flip(0.12)) return this.#inlineFragment(type, depth);
    if (depth > 0 && this.#flip(0.1)) return this.#spread(type, depth);
    const fields = this.#fieldsOf(type).filter(
      (field) => depth > 0 || !isCompositeType(getNamedType(field.type)),
    );
    if (fields.length === 0 || this.#flip(0.08)) return `__typename${this.#directives()}`;
    return this.#field(pick(this.#random, fields), type, depth);
  }

  #inlineFragment(type: GraphQLCompositeType, depth: number): string {
    const on = this.#flip(0.3) && !isAbstractType(type) ? type : this.#narrowed(type);
    const condition = on === type && this.#flip(0.5) ? '' : ` on ${on}`;
    return `...${condition}${this.#directives()} ${this.#selectionSet(on, depth - 1)}`;
  }

  #spread(type: GraphQLCompositeType, depth: number): string {
    const on = this.#narrowed(type);
    const known = this.#fragments.filter((fragment) => fragment.on === on.name);
    if (known.length > 0 && this.#flip(0.5)) {
      return `...${pick(this.#random, known).name}${this.#directives()}`;
    }
    const text = this.#selectionSet(on, depth - 1);
    const name = `F${this.#fragments.length}`;
    this.#fragments.push({ name, on: on.name, text });
    return `...${name}${this.#directives()}`;
  }

  #narrowed(type: GraphQLCompositeType): GraphQLCompositeType {
    return isAbstractType(type) ? pick(this.#random, this.#schema.getPossibleTypes(type)) : type;
  }

  #field(field: GraphQLField<unknown, unknown>, type: GraphQLCompositeType, depth: number): string {
    const args = this.#arguments(field.args);
    const inner = getNamedType(field.type);
    const below = isCompositeType(inner) ? ` ${this.#selectionSet(inner, depth - 1)}` : '';
    // Two selections with one key must be the same, so a field that may differ gets a key of its own.
    const needsAlias = args !== '' || isAbstractType(type);
    return `${this.#alias(needsAlias)}${field.name}${args}${this.#directives()}${below}`;
  }

  #alias(isNeeded: boolean): string {
    if (isNeeded || this.#flip(0.1)) {
      this.#aliases += 1;
      const name = this.#flip(0.1)
        ? pick(this.#random, NASTY_ALIASES)
        : pick(this.#random, ALIASES);
      return this.#flip(0.2) && this.#aliases === 1 ? `${name}: ` : `${name}${this.#aliases}: `;
    }
    return this.#flip(0.03) ? `${pick(this.#random, [...ALIASES, ...NASTY_ALIASES])}: ` : '';
  }

  #directives(): string {
    if (!this.#flip(0.12)) return '';
    const condition = () => {
      if (this.#flip(0.4)) return String(this.#flip(0.5));
      const declared = this.#flip(0.8) ? 'Boolean!' : `Boolean = ${this.#flip(0.5)}`;
      const isLeftOut = declared !== 'Boolean!' && this.#flip(0.5);
      return this.#declare(declared, isLeftOut ? undefined : this.#flip(0.5));
    };
    const one = () => `@${pick(this.#random, ['skip', 'include'])}(if: ${condition()})`;
    if (this.#flip(0.8)) return ` ${one()}`;
    return ` @skip(if: ${condition()}) @include(if: ${condition()})`;
  }

  #arguments(args: readonly GraphQLArgument[]): string {
    const given = args.filter((argument) => isRequiredArgument(argument) || this.#flip(0.4));
    if (given.length === 0) return '';
    return `(${given.map(({ name, type }) => `${name}: ${this.#value(type)}`).join(', ')})`;
  }

  /** A value as a literal, as a variable, or as a literal with variables in it. */
  #value(type: GraphQLInputType): string {
    if (!this.#flip(0.4)) return this.#literal(type);
    if (this.#flip(0.15) && isNonNullType(type)) {
      // A nullable variable with a default is allowed here. If its value is null, the field has an error.
      const value = this.#flip(0.5) ? null : this.#json(type.ofType);
      return this.#declare(`${type.ofType} = ${this.#literal(type.ofType, true)}`, value);
    }
    const isLeftOut = !isNonNullType(type) && this.#flip(0.2);
    return this.#declare(String(type), isLeftOut ? undefined : this.#json(type));
  }

  #declare(type: string, value: unknown): string {
    const name = pick(this.#random, VARIABLES);
    const free = this.#definitions.has(name) ? `${name}${this.#definitions.size}` : name;
    this.#definitions.set(free, `$${free}: ${type}`);
    if (value !== undefined) {
      Object.defineProperty(this.#variables, free, { value, enumerable: true, configurable: true });
    }
    return `$${free}`;
  }

  #literal(type: GraphQLInputType, isConstant = false): string {
    if (isNonNullType(type)) return this.#present(type.ofType, isConstant);
    return this.#flip(0.05) ? 'null' : this.#present(type, isConstant);
  }

  #present(type: GraphQLInputType, isConstant: boolean): string {
    const inner = (of: GraphQLInputType) =>
      isConstant ? this.#literal(of, true) : this.#value(of);
    if (isNonNullType(type)) return this.#present(type.ofType, isConstant);
    if (isListType(type)) {
      if (this.#flip(0.2)) return this.#present(type.ofType, isConstant);
      const length = Math.floor(this.#random() * 3);
      return `[${Array.from({ length }, () => inner(type.ofType)).join(', ')}]`;
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields());
      if (type.isOneOf) {
        const field = pick(this.#random, fields);
        return `{ ${field.name}: ${this.#present(field.type, isConstant)} }`;
      }
      const given = fields.filter((field) => isNonNullType(field.type) || this.#flip(0.4));
      return `{ ${given.map(({ name, type: of }) => `${name}: ${inner(of)}`).join(', ')} }`;
    }
    if (isEnumType(type)) return pick(this.#random, type.getValues()).name;
    const value = this.#scalar(type.name);
    return type.name === 'JSON' ? '{ a: [1, "b"] }' : JSON.stringify(value);
  }

  #json(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return this.#nonNull(type.ofType);
    return this.#flip(0.06) ? null : this.#nonNull(type);
  }

  #nonNull(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return this.#nonNull(type.ofType);
    if (this.#flip(0.03)) return pick(this.#random, [{ wrong: 1 }, [[[1]]], 'wrong', 1e99, true]);
    if (isListType(type)) {
      if (this.#flip(0.2)) return this.#json(type.ofType);
      return Array.from({ length: Math.floor(this.#random() * 3) }, () => this.#json(type.ofType));
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields());
      const given = type.isOneOf
        ? [pick(this.#random, fields)]
        : fields.filter((field) => isNonNullType(field.type) || this.#flip(0.4));
      return Object.fromEntries(given.map(({ name, type: of }) => [name, this.#json(of)]));
    }
    if (isEnumType(type)) return pick(this.#random, type.getValues()).name;
    return this.#scalar(type.name);
  }

  #scalar(name: string): unknown {
    const { texts = [] } = this.#taste;
    switch (name) {
      case 'Boolean':
        return this.#flip(0.5);
      case 'Int':
        return pick(this.#random, [0, 1, 2, 3, 10, 500, -1, 2147483647]);
      case 'Float':
        return pick(this.#random, [0, 1, 1.5, -2.25, 1e21, 5e-324]);
      case 'ID':
        return this.#flip(0.2) ? 7 : pick(this.#random, [...TEXTS, ...texts]);
      case 'DateTime':
        return '2026-01-02T03:04:05.000Z';
      default:
        return pick(this.#random, [...TEXTS, ...texts]);
    }
  }
}
