import type { GraphQLInputType, GraphQLObjectType } from 'graphql';
import { pick, type Random } from '../../../src/sandbox/random.ts';
import type { ArgumentValues } from './argument-values.ts';
import type { Composer } from './composer.ts';
import {
  type Draft,
  type DraftArgument,
  FORMS,
  type Path,
  pathsOf,
  replaceAt,
  type Selection,
  selectionAt,
} from './draft.ts';

/** A change, and the selections that it can be made at. */
interface Change {
  readonly fits: (selection: Selection) => boolean;
  readonly make: (draft: Draft, path: Path) => Draft;
}

const MOST_CHANGES = 8;
const MOST_STEPS = 4;
const MOST_TIMES = 64;
const LARGEST_DRAFT = 2_000;

/** Changes a draft into one near it: larger, smaller, or other. */
export class Mutator {
  readonly #composer: Composer;
  readonly #random: Random;
  readonly #values: ArgumentValues;
  readonly #changes: readonly Change[];
  readonly #reductions: readonly Change[];

  constructor(composer: Composer, random: Random, values: ArgumentValues) {
    this.#composer = composer;
    this.#random = random;
    this.#values = values;
    const any = () => true;
    const isParent = (selection: Selection) => composer.below(selection) !== null;
    const takesArguments = (selection: Selection) => composer.field(selection).args.length > 0;
    const grow: Change = { fits: isParent, make: (draft, path) => this.#grow(draft, path) };
    const fill: Change = { fits: isParent, make: (draft, path) => this.#fill(draft, path) };
    const graft: Change = { fits: isParent, make: (draft, path) => this.#graft(draft, path) };
    const double: Change = { fits: isParent, make: (draft, path) => this.#double(draft, path) };
    const reargue: Change = {
      fits: takesArguments,
      make: (draft, path) => this.#reargue(draft, path),
    };
    const reform: Change = { fits: any, make: (draft, path) => this.#reform(draft, path) };
    const repeat: Change = { fits: any, make: (draft, path) => this.#repeat(draft, path) };
    const drop: Change = { fits: any, make: (draft, path) => this.#drop(draft, path) };
    const lessen: Change = {
      fits: takesArguments,
      make: (draft, path) => this.#lessen(draft, path),
    };
    const thin: Change = { fits: isParent, make: (draft, path) => this.#thin(draft, path) };
    // Changes that make an answer larger come more often than those that only make it other.
    this.#changes = [
      grow,
      grow,
      fill,
      fill,
      graft,
      graft,
      double,
      reargue,
      reargue,
      reform,
      repeat,
      drop,
    ];
    this.#reductions = [drop, lessen, thin];
  }

  /** Some changes, most often few. */
  mutate(draft: Draft): Draft {
    const count = 1 + Math.floor(this.#random() ** 2 * MOST_CHANGES);
    let changed = draft;
    for (let made = 0; made < count; made += 1) changed = this.#apply(this.#changes, changed);
    return pathsOf(changed).length > LARGEST_DRAFT ? draft : changed;
  }

  /** Smaller, for a document that a limit refuses. */
  shrink(draft: Draft): Draft {
    return this.#apply(this.#reductions, draft);
  }

  #apply(changes: readonly Change[], draft: Draft): Draft {
    const { fits, make } = pick(this.#random, changes);
    const fitting = pathsOf(draft).filter((path) => fits(selectionAt(draft, path)));
    return fitting.length > 0 ? make(draft, pick(this.#random, fitting)) : draft;
  }

  #grow(draft: Draft, path: Path): Draft {
    if (!this.#composer.isSingle && this.#random() < 0.2) {
      return [...draft, this.#composer.selection(this.#composer.root)];
    }
    return this.#addBelow(draft, path, (type) => [this.#composer.selection(type, 3)]);
  }

  /** Selects every leaf of an object. */
  #fill(draft: Draft, path: Path): Draft {
    return this.#addBelow(draft, path, (type, below) => this.#composer.missingLeaves(type, below));
  }

  /** Copies a selection from elsewhere below the same type: nesting that leads back to itself. */
  #graft(draft: Draft, path: Path): Draft {
    const all = pathsOf(draft).map((one) => selectionAt(draft, one));
    return this.#addBelow(draft, path, (type) => {
      const fitting = all.filter(({ on, below }) => on === type.name && below.length > 0);
      return fitting.length > 0 ? [pick(this.#random, fitting)] : [];
    });
  }

  #double(draft: Draft, path: Path): Draft {
    if (this.#composer.isSingle && path.length === 1) return draft;
    return replaceAt(draft, path, (selection) => [selection, selection]);
  }

  #reargue(draft: Draft, path: Path): Draft {
    return replaceAt(draft, path, (selection) => [this.#withOtherArguments(selection)]);
  }

  #withOtherArguments(selection: Selection): Selection {
    const declared = this.#composer.field(selection).args;
    if (declared.length === 0) return selection;
    const { args } = selection;
    if (args.length === 0 || this.#random() < 0.2) {
      return { ...selection, args: this.#composer.arguments(declared) };
    }
    const chosen = pick(this.#random, args);
    const type = declared.find(({ name }) => name === chosen.name)?.type;
    if (!type) return selection;
    const next =
      this.#random() < 0.15
        ? { ...chosen, isVariable: !chosen.isVariable }
        : { ...chosen, value: this.#farther(chosen, type) };
    return { ...selection, args: args.map((one) => (one === chosen ? next : one)) };
  }

  #farther({ value, name }: DraftArgument, type: GraphQLInputType): unknown {
    const steps = 1 + Math.floor(this.#random() * MOST_STEPS);
    let next = value;
    for (let made = 0; made < steps; made += 1) next = this.#values.near(next, type, name);
    return next;
  }

  #reform(draft: Draft, path: Path): Draft {
    return replaceAt(draft, path, (selection) => [
      { ...selection, form: pick(this.#random, FORMS) },
    ]);
  }

  #repeat(draft: Draft, path: Path): Draft {
    return replaceAt(draft, path, (selection) => [
      { ...selection, times: Math.min(MOST_TIMES, selection.times * 2) },
    ]);
  }

  #drop(draft: Draft, path: Path): Draft {
    const rest = replaceAt(draft, path, () => []);
    return rest.length > 0 ? rest : draft;
  }

  /** Halves a number among its arguments, such as the size of a page. */
  #lessen(draft: Draft, path: Path): Draft {
    return replaceAt(draft, path, (selection) => [
      {
        ...selection,
        times: Math.ceil(selection.times / 2),
        args: selection.args.map((one) =>
          typeof one.value === 'number' ? { ...one, value: Math.floor(one.value / 2) } : one,
        ),
      },
    ]);
  }

  /** Drops some of the many selections below it. */
  #thin(draft: Draft, path: Path): Draft {
    return replaceAt(draft, path, (selection) => [
      { ...selection, below: selection.below.filter(() => this.#random() < 0.6) },
    ]);
  }

  #addBelow(
    draft: Draft,
    path: Path,
    make: (type: GraphQLObjectType, below: readonly Selection[]) => readonly Selection[],
  ): Draft {
    return replaceAt(draft, path, (selection) => {
      const type = this.#composer.below(selection);
      if (!type) return [selection];
      return [{ ...selection, below: [...selection.below, ...make(type, selection.below)] }];
    });
  }
}
