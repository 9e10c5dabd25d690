import {
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  type OperationTypeNode,
  print,
  valueToLiteral,
} from 'graphql';
import { hash } from '../../../src/sandbox/random.ts';
import type { Draft, DraftArgument, Selection } from './draft.ts';

export interface HostileDocument {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface Writing {
  readonly schema: GraphQLSchema;
  readonly operation: OperationTypeNode;
  /** The operation's name: under another one the same document is new to the server. */
  readonly name: string;
}

/** The draft as text. Equal parts come out equal, so that fragments are shared and aliases never collide. */
export function writeDocument(draft: Draft, { schema, operation, name }: Writing): HostileDocument {
  const root = schema.getRootType(operation);
  if (!root) throw new Error(`the schema has no ${operation}`);
  const writer = new Writer(schema);
  const selections = writer.selections(draft, root.name);
  const definitions = [...writer.definitions.values()].join(', ');
  const head = `${operation} ${name}${definitions && `(${definitions})`}`;
  const fragments = [...writer.fragments].map(([text, key]) => `fragment ${key} ${text}`);
  return { text: [`${head} ${selections}`, ...fragments].join('\n'), variables: writer.variables };
}

class Writer {
  readonly fragments = new Map<string, string>();
  readonly definitions = new Map<string, string>();
  readonly variables: Record<string, unknown> = {};
  readonly #schema: GraphQLSchema;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  selections(selections: readonly Selection[], parent: string): string {
    const taken = new Set<string>();
    const texts = selections.map((selection) => this.#selection(selection, parent, taken));
    return `{ ${texts.join(' ') || '__typename'} }`;
  }

  #selection(selection: Selection, parent: string, taken: Set<string>): string {
    const { on, form, times } = selection;
    const field = this.#field(selection, taken);
    const text = Array.from({ length: times }, () => field).join(' ');
    if (form === 'fragment') return `...${this.#fragment(`on ${on} { ${text} }`)}`;
    return form === 'inline' || on !== parent ? `... on ${on} { ${text} }` : text;
  }

  #field({ on, name, args, below }: Selection, taken: Set<string>): string {
    const type = this.#schema.getType(on) as GraphQLObjectType;
    const field = this.#schema.getField(type, name);
    if (!field) throw new Error(`the schema has no ${on}.${name}`);
    const given = args.map((argument) => {
      const declared = field.args.find((one) => one.name === argument.name);
      if (!declared) throw new Error(`${on}.${name} takes no ${argument.name}`);
      return `${argument.name}: ${this.#value(argument, declared.type)}`;
    });
    const inner = getNamedType(field.type);
    const asked = given.length > 0 ? `${name}(${given.join(', ')})` : name;
    const text = isCompositeType(inner) ? `${asked} ${this.selections(below, inner.name)}` : asked;
    return `${this.#alias(name, text, taken)}${text}`;
  }

  /** Named by a hash of its text: two places that merge have the same under the same alias. */
  #alias(name: string, text: string, taken: Set<string>): string {
    if (!taken.has(name)) {
      taken.add(name);
      return '';
    }
    const base = `a${hash(text).toString(36)}`;
    let twin = 0;
    while (taken.has(`${base}_${twin}`)) twin += 1;
    taken.add(`${base}_${twin}`);
    return `${base}_${twin}: `;
  }

  #fragment(text: string): string {
    const known = this.fragments.get(text);
    if (known) return known;
    const key = `F${this.fragments.size}`;
    this.fragments.set(text, key);
    return key;
  }

  #value({ value, isVariable }: DraftArgument, type: GraphQLInputType): string {
    if (!isVariable) {
      const literal = valueToLiteral(value, type);
      if (!literal) throw new Error(`no literal of ${type} for ${JSON.stringify(value)}`);
      return print(literal);
    }
    const key = `v${hash(`${type} ${JSON.stringify(value)}`).toString(36)}`;
    this.definitions.set(key, `$${key}: ${type}`);
    this.variables[key] = value;
    return `$${key}`;
  }
}
