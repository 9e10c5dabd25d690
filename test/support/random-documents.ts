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

/** What the random document contains, and what it leaves out. */
export interface DocumentOptions {
  readonly operation?: OperationTypeNode;
  /** Fields to leave out, as `Type.field`. */
  readonly without?: ReadonlySet<string>;
  /** Texts that arguments may have as values, besides the usual ones. */
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
  // biome-ignore lint/suspicious/noTemplateCurlyInString: generated code must not take this text for a template
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
  options: DocumentOptions = {},
): RandomDocument {
  return new Composer(schema, random, options).document();
}

class Composer {
  readonly #schema: GraphQLSchema;
  readonly #random: Random;
  readonly #options: DocumentOptions;
  readonly #definitions = new Map<string, string>();
  readonly #variables: Record<string, unknown> = {};
  readonly #fragments: { readonly name: string; readonly on: string; readonly text: string }[] = [];
  #aliases = 0;

  constructor(schema: GraphQLSchema, random: Random, options: DocumentOptions) {
    this.#schema = schema;
    this.#random = random;
    this.#options = options;
  }

  document(): RandomDocument {
    const { operation = 'query', maxDepth = 5 } = this.#options;
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

  /** True with this probability. */
  #flip(probability: number): boolean {
    return this.#random() < probability;
  }

  #fieldsOf(type: GraphQLCompositeType): GraphQLField<unknown, unknown>[] {
    if (!isObjectType(type) && !isInterfaceType(type)) return [];
    const { without } = this.#options;
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
    // A fragment on the surrounding type may leave out its type.
    const isLeftOut = on === type && this.#flip(0.5);
    const condition = isLeftOut ? '' : ` on ${on}`;
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

  /** For an interface or a union, one of its object types. */
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
      const names = this.#flip(0.1) ? NASTY_ALIASES : ALIASES;
      const name = pick(this.#random, names);
      // A number makes the alias unique. The first alias may do without.
      const isBare = this.#flip(0.2) && this.#aliases === 1;
      return isBare ? `${name}: ` : `${name}${this.#aliases}: `;
    }
    // Rarely takes an alias that another field may have too.
    return this.#flip(0.03) ? `${pick(this.#random, [...ALIASES, ...NASTY_ALIASES])}: ` : '';
  }

  #directives(): string {
    if (!this.#flip(0.12)) return '';
    if (this.#flip(0.8)) {
      const name = pick(this.#random, ['skip', 'include']);
      return ` @${name}(if: ${this.#condition()})`;
    }
    return ` @skip(if: ${this.#condition()}) @include(if: ${this.#condition()})`;
  }

  /** A boolean literal, or a variable whose value may be left out if it has a default. */
  #condition(): string {
    if (this.#flip(0.4)) return String(this.#flip(0.5));
    const isRequired = this.#flip(0.8);
    const type = isRequired ? 'Boolean!' : `Boolean = ${this.#flip(0.5)}`;
    const isLeftOut = !isRequired && this.#flip(0.5);
    return this.#declare(type, isLeftOut ? undefined : this.#flip(0.5));
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

  /** Adds a variable with this value, or without one for undefined, and returns its name. */
  #declare(type: string, value: unknown): string {
    const name = pick(this.#random, VARIABLES);
    const free = this.#definitions.has(name) ? `${name}${this.#definitions.size}` : name;
    this.#definitions.set(free, `$${free}: ${type}`);
    if (value !== undefined) {
      // A plain assignment to `__proto__` would set the prototype.
      Object.defineProperty(this.#variables, free, { value, enumerable: true, configurable: true });
    }
    return `$${free}`;
  }

  /** A literal of the type. A constant one contains no variables. */
  #literal(type: GraphQLInputType, isConstant = false): string {
    if (isNonNullType(type)) return this.#present(type.ofType, isConstant);
    return this.#flip(0.05) ? 'null' : this.#present(type, isConstant);
  }

  /** A literal other than null. */
  #present(type: GraphQLInputType, isConstant: boolean): string {
    const inner = (innerType: GraphQLInputType) =>
      isConstant ? this.#literal(innerType, true) : this.#value(innerType);
    if (isNonNullType(type)) return this.#present(type.ofType, isConstant);
    if (isListType(type)) {
      // GraphQL accepts a single item in place of a list.
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
      return `{ ${given.map((field) => `${field.name}: ${inner(field.type)}`).join(', ')} }`;
    }
    if (isEnumType(type)) return pick(this.#random, type.getValues()).name;
    const value = this.#scalar(type.name);
    return type.name === 'JSON' ? '{ a: [1, "b"] }' : JSON.stringify(value);
  }

  /** A value of a variable: mostly one of the type, rarely a wrong one. */
  #json(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return this.#nonNull(type.ofType);
    return this.#flip(0.06) ? null : this.#nonNull(type);
  }

  #nonNull(type: GraphQLInputType): unknown {
    if (isNonNullType(type)) return this.#nonNull(type.ofType);
    const isWrong = this.#flip(0.03);
    if (isWrong) return pick(this.#random, [{ wrong: 1 }, [[[1]]], 'wrong', 1e99, true]);
    if (isListType(type)) {
      // GraphQL accepts a single item in place of a list.
      if (this.#flip(0.2)) return this.#json(type.ofType);
      return Array.from({ length: Math.floor(this.#random() * 3) }, () => this.#json(type.ofType));
    }
    if (isInputObjectType(type)) {
      const fields = Object.values(type.getFields());
      const given = type.isOneOf
        ? [pick(this.#random, fields)]
        : fields.filter((field) => isNonNullType(field.type) || this.#flip(0.4));
      return Object.fromEntries(given.map((field) => [field.name, this.#json(field.type)]));
    }
    if (isEnumType(type)) return pick(this.#random, type.getValues()).name;
    return this.#scalar(type.name);
  }

  #scalar(name: string): unknown {
    const { texts = [] } = this.#options;
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
