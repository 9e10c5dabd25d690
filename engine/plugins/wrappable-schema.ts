import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { runInCore, runInExtension } from '../../lib/extension-code.ts';
import type { Log } from '../../lib/log.ts';
import type { OperationContext } from '../admission/operation-context.ts';
import { requestError } from '../operation/request-error.ts';
import { GRAPH, viewOf } from './plugin-view.ts';

type Run = (...args: unknown[]) => unknown;
type Field = GraphQLField<unknown, unknown>;

/** A function of the schema that plugins may replace. */
interface Wrappable {
  readonly holder: Record<string, unknown>;
  readonly name: 'resolve' | 'subscribe' | 'isTypeOf' | 'resolveType';
  readonly about: Field | GraphQLNamedType;
  readonly isWrite: boolean;
}

/** The writes of one operation whose resolvers are wrapped: what each one's own resolver has returned. */
type Writes = Map<unknown, unknown>;

export type WrappableSchema = ReturnType<typeof createWrappableSchema>;

/**
 * The schema while plugins may replace its functions. Theirs are called with the context that they extend, and the
 * service's own with the one that they need. What a plugin replaced counts as the viewer's own from then on: it is shared
 * with nobody, cached nowhere and, having four parameters, never compiled.
 */
export function createWrappableSchema(schema: GraphQLSchema, log: Log, extension: string) {
  let endings: readonly (() => Wrappable | null)[] = [];
  const writesOf = new WeakMap<object, Writes>();
  const failed = new WeakSet<object>();

  function offer({ holder, name, about, isWrite }: Wrappable): () => Wrappable | null {
    const own = holder[name] as Run | undefined;
    const hosted: Run | undefined = own && ((...given) => runInCore(() => own(...given)));
    const offered = hosted && (isWrite ? noting(hosted) : withContext(hosted, name, innerOf));
    if (offered) holder[name] = offered;
    return () => {
      const now = holder[name] as Run | undefined;
      if (now === offered) {
        if (own) holder[name] = own;
        return null;
      }
      if (now) {
        const theirs = withContext(
          (...given) => runInExtension(extension, () => now(...given)),
          name,
          viewOf,
        );
        holder[name] = isWrite ? surviving(theirs) : theirs;
      }
      return { holder, name, about, isWrite };
    };
  }

  /** Notes what a write has returned, before a plugin that wraps it can fail. */
  function noting(own: Run): Run {
    return (source, args, context, info) => {
      const inner = innerOf(context);
      const made = own(source, args, inner, info);
      const writes = writesOf.get(inner) ?? new Map<unknown, unknown>();
      writesOf.set(inner, writes.set(keyOf(info), made));
      return made;
    };
  }

  /** A wrapper that fails after the write does not hide its outcome. */
  function surviving(wrapped: Run): Run {
    return async (source, args, context, info) => {
      try {
        return await wrapped(source, args, context, info);
      } catch (error) {
        const writes = writesOf.get(context as object);
        if (!writes?.has(keyOf(info))) throw error;
        const outcome = Promise.race([writes.get(keyOf(info)), Promise.reject(unknownOutcome())]);
        const isOfTheWrite = await outcome.then(
          () => false,
          (reason) => reason === error,
        );
        if (!isOfTheWrite) {
          log.error({ err: error }, 'a plugin failed');
          failed.add(context as object);
        }
        return outcome;
      }
    };
  }

  return {
    beginWrapping(): void {
      endings = [...wrappablesOf(schema)].map((each) => offer(each));
    },
    endWrapping(): void {
      const replaced = endings.flatMap((end) => end() ?? []);
      const touched = new Set(replaced.map(({ about }) => about));
      if (touched.size > 0) unmark(schema, touched);
    },
    /** Whether a wrapper of one of its writes failed after the write. */
    hasFailed(context: OperationContext): boolean {
      return failed.has(context);
    },
  };
}

/** The error of a write that was begun, and of which no outcome can be told. */
export function unknownOutcome() {
  return requestError(
    'OUTCOME_UNKNOWN',
    'It is not known what became of this: it may have been done or not.',
  );
}

function keyOf(info: unknown): unknown {
  return (info as { readonly path?: { readonly key: unknown } } | undefined)?.path?.key;
}

function innerOf(context: unknown): OperationContext {
  return (context as { readonly [GRAPH]: OperationContext })[GRAPH];
}

/** Calls a function with another context. Compiled code calls none with a fourth parameter. */
function withContext(run: Run, name: Wrappable['name'], of: (context: unknown) => unknown): Run {
  return name === 'resolve' || name === 'subscribe'
    ? (source, args, context, info) => run(source, args, of(context), info)
    : (value, context, info, type) => run(value, of(context), info, type);
}

function* wrappablesOf(schema: GraphQLSchema): Generator<Wrappable> {
  for (const type of Object.values(schema.getTypeMap())) {
    // The types of introspection belong to every schema of the process.
    if (type.name.startsWith('__')) continue;
    const holder = type as unknown as Wrappable['holder'];
    if (isAbstractType(type)) yield { holder, name: 'resolveType', about: type, isWrite: false };
    if (isObjectType(type)) yield { holder, name: 'isTypeOf', about: type, isWrite: false };
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const of = { holder: field as unknown as Wrappable['holder'], about: field };
      yield { ...of, name: 'resolve', isWrite: type === schema.getMutationType() };
      yield { ...of, name: 'subscribe', isWrite: false };
    }
  }
}

/** Removes the marks of the fields that a plugin touched, and of all that may return a type that it touched. */
function unmark(schema: GraphQLSchema, touched: ReadonlySet<Field | GraphQLNamedType>): void {
  const isTouched = (type: GraphQLNamedType) =>
    touched.has(type) ||
    (isAbstractType(type) && schema.getPossibleTypes(type).some((each) => touched.has(each)));
  for (const { about } of wrappablesOf(schema)) {
    if (!('args' in about)) continue;
    if (touched.has(about) || isTouched(getNamedType(about.type))) {
      about.extensions = { ...about.extensions, sharing: undefined };
    }
  }
}
