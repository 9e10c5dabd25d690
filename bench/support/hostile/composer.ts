import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
  type OperationTypeNode,
  SchemaMetaFieldDef,
} from 'graphql';
import { pick, type Random } from '../../../src/sandbox/random.ts';
import type { ArgumentValues } from './argument-values.ts';
import { type Draft, type DraftArgument, FORMS, type Selection } from './draft.ts';

export interface ComposerOptions {
  readonly schema: GraphQLSchema;
  readonly operation: OperationTypeNode;
  readonly random: Random;
  readonly values: ArgumentValues;
  /** True where the server allows introspection. */
  readonly introspects: boolean;
}

type Field = GraphQLField<unknown, unknown>;

const DEEPEST = 7;
const WIDEST = 4;
const DEEPER = 0.4;

/** Generates documents from the schema alone: any field, any argument, to any depth. */
export class Composer {
  readonly #options: ComposerOptions;
  readonly root: GraphQLObjectType;

  constructor(options: ComposerOptions) {
    const root = options.schema.getRootType(options.operation);
    if (!root) throw new Error(`the schema has no ${options.operation}`);
    this.#options = options;
    this.root = root;
  }

  /** A subscription follows one field. */
  get isSingle(): boolean {
    return this.#options.operation === 'subscription';
  }

  draft(): Draft {
    const count = this.isSingle ? 1 : this.#count(3);
    return Array.from({ length: count }, () => this.selection(this.root));
  }

  selection(parent: GraphQLObjectType, depth = DEEPEST): Selection {
    const { random } = this.#options;
    const fields = this.#fieldsOf(parent);
    // Most fields are leaves, and would leave few documents deep.
    const goesDeeper = depth > 0 && random() < DEEPER;
    const fitting = fields.filter((field) => isParent(field) === goesDeeper);
    return this.#select(parent, pick(random, fitting.length > 0 ? fitting : fields), depth);
  }

  /** The leaves below it that are not selected yet. */
  missingLeaves(parent: GraphQLObjectType, present: readonly Selection[]): Selection[] {
    const names = new Set(present.map(({ name }) => name));
    return this.#fieldsOf(parent)
      .filter((field) => !isParent(field) && !names.has(field.name))
      .filter((field) => !field.args.some(isRequiredArgument))
      .map((field) => ({ ...this.#select(parent, field, 0), form: 'plain' }));
  }

  arguments(args: readonly GraphQLArgument[]): DraftArgument[] {
    const { random, values } = this.#options;
    return args
      .filter((argument) => isRequiredArgument(argument) || random() < 0.4)
      .map(({ name, type }) => ({
        name,
        value: values.make(type, name),
        isVariable: random() < 0.4,
      }));
  }

  field({ on, name }: Selection): Field {
    const type = this.#options.schema.getType(on);
    const field = isObjectType(type) && this.#options.schema.getField(type, name);
    if (!field) throw new Error(`the schema has no ${on}.${name}`);
    return field;
  }

  /** An object type that can stand below a field; null for a leaf. */
  below(selection: Selection): GraphQLObjectType | null {
    return this.#objectBelow(this.field(selection));
  }

  #select(parent: GraphQLObjectType, field: Field, depth: number): Selection {
    const { random } = this.#options;
    const type = this.#objectBelow(field);
    const count = type ? this.#count(WIDEST) : 0;
    return {
      on: parent.name,
      name: field.name,
      args: this.arguments(field.args),
      below: Array.from({ length: count }, () =>
        this.selection(type as GraphQLObjectType, depth - 1),
      ),
      form: random() < 0.8 ? 'plain' : pick(random, FORMS),
      times: 1,
    };
  }

  #objectBelow(field: Field): GraphQLObjectType | null {
    const type = getNamedType(field.type);
    if (isAbstractType(type)) {
      return pick(this.#options.random, this.#options.schema.getPossibleTypes(type));
    }
    return isObjectType(type) ? type : null;
  }

  #fieldsOf(type: GraphQLObjectType): Field[] {
    const fields = Object.values(type.getFields());
    const asksForSchema = type === this.root && this.#options.introspects && !this.isSingle;
    return asksForSchema ? [...fields, SchemaMetaFieldDef] : fields;
  }

  #count(most: number): number {
    return 1 + Math.floor(this.#options.random() * most);
  }
}

function isParent(field: Field): boolean {
  return isCompositeType(getNamedType(field.type));
}
