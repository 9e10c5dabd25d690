import {
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
import { type Draft, type Path, pathsOf, replaceAt, type Selection, selectionAt } from './draft.ts';

export interface DocumentMakerOptions {
  readonly schema: GraphQLSchema;
  readonly operation: OperationTypeNode;
  readonly random: Random;
  readonly values: ArgumentValues;
  /** True where the server allows introspection. */
  readonly introspects: boolean;
}

type Field = GraphQLField<unknown, unknown>;
type Change = (draft: Draft, path: Path) => Draft;

const DEEPEST = 7;
const WIDEST = 4;
const DEEPER = 0.4;
const MOST_CHANGES = 8;
const MOST_STEPS = 4;
const MOST_TIMES = 64;
const LARGEST_DRAFT = 2_000;

/** Makes documents up from the schema alone, any field with any argument to any depth, and changes them. */
export class DocumentMaker {
  readonly #options: DocumentMakerOptions;
  readonly #root: GraphQLObjectType;
  readonly #changes: readonly Change[];
  readonly #reductions: readonly Change[];

  constructor(options: DocumentMakerOptions) {
    const root = options.schema.getRootType(options.operation);
    if (!root) throw new Error(`the schema has no ${options.operation}`);
    this.#options = options;
    this.#root = root;
    const grow = this.#addBelow((type) => [this.#selection(type, 3)]);
    const fill = this.#addBelow((type, below) => this.#missingLeaves(type, below));
    // A copy of a selection below the same type is nesting that leads back to itself.
    const graft = this.#addBelow((type, _below, draft) => {
      const all = pathsOf(draft).map((path) => selectionAt(draft, path));
      const fitting = all.filter(({ on, below }) => on === type.name && below.length > 0);
      return fitting.length > 0 ? [pick(options.random, fitting)] : [];
    });
    const widen: Change = (draft) =>
      this.#isSingle ? draft : [...draft, this.#selection(this.#root, DEEPEST)];
    const double: Change = (draft, path) =>
      this.#isSingle && path.length === 1 ? draft : replaceAt(draft, path, (one) => [one, one]);
    const reargue = at((selection) => this.#withOtherArguments(selection));
    const repeat = at((selection) => ({
      ...selection,
      times: Math.min(MOST_TIMES, selection.times * 2),
    }));
    const drop: Change = (draft, path) => {
      const rest = replaceAt(draft, path, () => []);
      return rest.length > 0 ? rest : draft;
    };
    const lessen = at((selection) => ({
      ...selection,
      times: Math.ceil(selection.times / 2),
      args: Object.fromEntries(
        Object.entries(selection.args).map(([name, value]) => [
          name,
          typeof value === 'number' ? Math.floor(value / 2) : value,
        ]),
      ),
    }));
    const thin = at((selection) => ({
      ...selection,
      below: selection.below.filter(() => options.random() < 0.6),
    }));
    // Changes that make an answer larger come more often than those that only make it other.
    this.#changes = [
      ...[grow, grow, widen, fill, fill, graft, graft],
      ...[double, reargue, reargue, repeat, drop],
    ];
    this.#reductions = [drop, lessen, thin];
  }

  /** A subscription follows one field. */
  get #isSingle(): boolean {
    return this.#options.operation === 'subscription';
  }

  draft(): Draft {
    const count = this.#isSingle ? 1 : this.#count(3);
    return Array.from({ length: count }, () => this.#selection(this.#root, DEEPEST));
  }

  /** Some changes, most often few. */
  mutate(draft: Draft): Draft {
    const count = 1 + Math.floor(this.#options.random() ** 2 * MOST_CHANGES);
    let changed = draft;
    for (let made = 0; made < count; made += 1) changed = this.#apply(this.#changes, changed);
    return pathsOf(changed).length > LARGEST_DRAFT ? draft : changed;
  }

  /** Smaller, for a document that a limit refuses. */
  shrink(draft: Draft): Draft {
    return this.#apply(this.#reductions, draft);
  }

  #apply(changes: readonly Change[], draft: Draft): Draft {
    const { random } = this.#options;
    return pick(random, changes)(draft, pick(random, pathsOf(draft)));
  }

  #addBelow(
    make: (type: GraphQLObjectType, below: Draft, draft: Draft) => readonly Selection[],
  ): Change {
    return (draft, path) =>
      replaceAt(draft, path, (selection) => {
        const type = this.#objectBelow(this.#field(selection));
        if (!type) return [selection];
        return [
          { ...selection, below: [...selection.below, ...make(type, selection.below, draft)] },
        ];
      });
  }

  #selection(parent: GraphQLObjectType, depth: number): Selection {
    const { random } = this.#options;
    const fields = this.#fieldsOf(parent);
    // Most fields are leaves, and would leave few documents deep.
    const goesDeeper = depth > 0 && random() < DEEPER;
    const fitting = fields.filter((field) => isParent(field) === goesDeeper);
    const field = pick(random, fitting.length > 0 ? fitting : fields);
    const type = this.#objectBelow(field);
    const below = type
      ? Array.from({ length: this.#count(WIDEST) }, () => this.#selection(type, depth - 1))
      : [];
    return { on: parent.name, name: field.name, args: this.#arguments(field), below, times: 1 };
  }

  #missingLeaves(parent: GraphQLObjectType, present: Draft): Selection[] {
    const names = new Set(present.map(({ name }) => name));
    return this.#fieldsOf(parent)
      .filter((field) => !isParent(field) && !names.has(field.name))
      .filter((field) => !field.args.some(isRequiredArgument))
      .map(({ name }) => ({ on: parent.name, name, args: {}, below: [], times: 1 }));
  }

  #arguments({ args }: Field): Selection['args'] {
    const { random, values } = this.#options;
    const given = args.filter((argument) => isRequiredArgument(argument) || random() < 0.4);
    return Object.fromEntries(given.map(({ name, type }) => [name, values.make(type, name)]));
  }

  #withOtherArguments(selection: Selection): Selection {
    const { random, values } = this.#options;
    const field = this.#field(selection);
    const present = field.args.filter(({ name }) => name in selection.args);
    if (present.length === 0 || random() < 0.2) {
      return { ...selection, args: this.#arguments(field) };
    }
    const { name, type } = pick(random, present);
    let value = selection.args[name];
    const steps = 1 + Math.floor(random() * MOST_STEPS);
    for (let made = 0; made < steps; made += 1) value = values.near(value, type, name);
    return { ...selection, args: { ...selection.args, [name]: value } };
  }

  #field({ on, name }: Selection): Field {
    const { schema } = this.#options;
    const type = schema.getType(on);
    const field = isObjectType(type) && schema.getField(type, name);
    if (!field) throw new Error(`the schema has no ${on}.${name}`);
    return field;
  }

  /** An object type that can stand below a field; null for a leaf. */
  #objectBelow(field: Field): GraphQLObjectType | null {
    const type = getNamedType(field.type);
    const { random, schema } = this.#options;
    if (isAbstractType(type)) return pick(random, schema.getPossibleTypes(type));
    return isObjectType(type) ? type : null;
  }

  #fieldsOf(type: GraphQLObjectType): Field[] {
    const fields = Object.values(type.getFields());
    const asksForSchema = type === this.#root && this.#options.introspects && !this.#isSingle;
    return asksForSchema ? [...fields, SchemaMetaFieldDef] : fields;
  }

  #count(most: number): number {
    return 1 + Math.floor(this.#options.random() * most);
  }
}

function at(change: (selection: Selection) => Selection): Change {
  return (draft, path) => replaceAt(draft, path, (selection) => [change(selection)]);
}

function isParent(field: Field): boolean {
  return isCompositeType(getNamedType(field.type));
}
