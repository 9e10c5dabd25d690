import type { GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { runInExtension } from '../../lib/extension-code.ts';
import type { Log } from '../../lib/log.ts';
import { createWrappableSchema, type WrappableSchema } from './wrappable-schema.ts';

/** Another author's plugin, with hooks of envelop or of yoga; its names are checked at the start. */
export type OtherPlugin = object;
type Hooks = Readonly<Record<string, unknown>>;

const OF_ENVELOP = [
  'onEnveloped',
  'onParse',
  'onValidate',
  'onContextBuilding',
  'onExecute',
  'onSubscribe',
];
const OF_HTTP = [
  'onYogaInit',
  'onRequest',
  'onRequestParse',
  'onParams',
  'onExecutionResult',
  'onResultProcess',
  'onResponse',
];
const HTTP_SPANS = ['request', 'requestParse', 'operation', 'resultProcess'];
const ONCE = ['onPluginInit', 'onSchemaChange', 'onDispose'];
const KNOWN = new Set([...OF_ENVELOP, ...OF_HTTP, ...ONCE]);

/** Stops the start: a plugin cannot be what it says. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

interface Named {
  readonly plugin: Hooks;
  readonly name: string;
}

/** Other people's plugins once they are initialized. */
export interface OpenPlugins {
  /** The name by which faults that none of them catches are logged and counted. */
  readonly extension: string;
  /** Their hooks, whose faults are kept. */
  readonly hooks: readonly Plugin[];
  readonly wrappable: WrappableSchema;
  /** The hooks of yoga's HTTP among them, as an operator is told of them. */
  readonly ofHttp: readonly string[];
  /** Runs every `onDispose`; a failure is logged. */
  dispose(): Promise<void>;
}

/** Initializes plugins, before anything reads the schema; throws a PluginError where one cannot run. */
export function openPlugins(
  schema: GraphQLSchema,
  given: readonly OtherPlugin[],
  log: Log,
  extension = 'plugins',
): OpenPlugins {
  const wrappable = createWrappableSchema(schema, log, extension);
  const handlers: unknown[] = [];
  if (given.length > 0) wrappable.beginWrapping();
  const all = runInExtension(extension, () => initialized(schema, given, handlers));
  wrappable.endWrapping();
  const own = all.map((each) => ({ ...hooksOf(each, log), ...httpHooksOf(each, extension) }));
  return {
    extension,
    hooks: all.length === 0 ? [] : [handling(handlers), ...own],
    wrappable,
    ofHttp: all.flatMap(({ plugin, name }) => {
      const spans = picked((plugin.instrumentation ?? {}) as Hooks, HTTP_SPANS);
      const names = [
        ...picked(plugin, OF_HTTP).map(([hook]) => hook),
        ...spans.map(([span]) => `instrumentation.${span}`),
      ];
      return names.map((hook) => `${name} has ${hook}`);
    }),
    dispose: () => runInExtension(extension, () => disposed(all, log)),
  };
}

/** Throws a PluginError for what can be told before the plugins begin. */
export function checkPlugins(given: readonly OtherPlugin[]): void {
  for (const each of given.map(named)) checkHooks(each);
}

/** Does what envelop does when it begins, so that it happens once however many handlers run the hooks. */
function initialized(
  schema: GraphQLSchema,
  given: readonly OtherPlugin[],
  handlers: unknown[],
): readonly Named[] {
  const all = given.map(named);
  for (let at = 0; at < all.length; at += 1) {
    const each = all[at] as Named;
    const { name } = each;
    checkHooks(each);
    const added: Named[] = [];
    call(each, 'onPluginInit', {
      plugins: all.map(({ plugin }) => plugin),
      addPlugin: (more: OtherPlugin) =>
        added.push({ plugin: more as Hooks, name: `${name}, by a plugin that it adds,` }),
      setSchema: refuseSchema(schema, name),
      registerContextErrorHandler: (handler: unknown) => handlers.push(handler),
    });
    all.splice(at + 1, 0, ...added);
  }
  for (const each of all) {
    call(each, 'onSchemaChange', { schema, replaceSchema: refuseSchema(schema, each.name) });
  }
  return all;
}

function named(given: OtherPlugin, at: number): Named {
  const plugin = given as Hooks;
  if (plugin === null || typeof plugin !== 'object') {
    throw new PluginError(`plugin ${at + 1} of the list is none`);
  }
  const name = typeof plugin.name === 'string' ? ` (${plugin.name})` : '';
  return { plugin, name: `plugin ${at + 1} of the list${name}` };
}

function checkHooks({ plugin, name }: Named): void {
  const unknown = Object.keys(plugin).find(
    (key) => /^on[A-Z]/.test(key) && typeof plugin[key] === 'function' && !KNOWN.has(key),
  );
  if (unknown !== undefined) throw new PluginError(`${name} has ${unknown}, which nothing calls`);
}

function call(
  { plugin, name }: Named,
  hook: 'onPluginInit' | 'onSchemaChange',
  payload: object,
): void {
  const called = plugin[hook];
  if (typeof called !== 'function') return;
  try {
    // A method of a class needs its object.
    called.call(plugin, payload);
  } catch (error) {
    if (error instanceof PluginError) throw error;
    throw new PluginError(`${name} cannot begin: ${String(error)}`, { cause: error });
  }
}

/** Documents are prepared with the schema of the start. */
function refuseSchema(schema: GraphQLSchema, name: string) {
  return (other: GraphQLSchema): void => {
    if (other !== schema)
      throw new PluginError(`${name} replaces the schema: it may wrap resolvers`);
  };
}

function httpHooksOf({ plugin }: Named, extension: string): Plugin {
  const hooks = picked(plugin, OF_HTTP).map(([name, hook]) => [
    name,
    (...given: unknown[]) => runInExtension(extension, () => (hook as Hook).apply(plugin, given)),
  ]);
  return Object.fromEntries(hooks);
}

function picked(plugin: Hooks, names: readonly string[]): [string, unknown][] {
  return names.filter((name) => plugin[name] != null).map((name) => [name, plugin[name]]);
}

function hooksOf({ plugin, name }: Named, log: Log): Plugin {
  const hooks = picked(plugin, OF_ENVELOP).map(([hook, run]) => {
    const fault = (error: unknown) =>
      log.error({ plugin: name, hook, err: error }, 'a plugin failed');
    return [hook, guarded(hook, run as Hook, fault)];
  });
  return { ...Object.fromEntries(hooks), instrumentation: plugin.instrumentation };
}

function handling(handlers: readonly unknown[]): Plugin {
  return {
    onPluginInit({ registerContextErrorHandler }) {
      for (const handler of handlers) registerContextErrorHandler(handler as () => void);
    },
  };
}

async function disposed(all: readonly Named[], log: Log): Promise<void> {
  await Promise.all(
    all.map(async ({ plugin, name }) => {
      try {
        await (plugin.onDispose as (() => unknown) | undefined)?.();
      } catch (error) {
        log.error({ plugin: name, hook: 'onDispose', err: error }, 'a plugin failed');
      }
    }),
  );
}

type Hook = (...given: unknown[]) => unknown;

/** The functions whose promises envelop waits for, so that what they reject with is an error of the operation. */
const AWAITED = new Set(['onContextBuilding', 'onExecute', 'onSubscribe', 'onExecuteDone']);

/** A hook that keeps its faults: its rejection would end the process, an `onEnd` that throws leave the source open. */
function guarded(name: string, hook: Hook, fault: (error: unknown) => void): Hook {
  return (...given) => {
    const made = name === 'onEnd' ? attempt(() => hook(...given), fault) : hook(...given);
    if (!(made instanceof Promise)) return guardedResult(name, made, fault);
    if (AWAITED.has(name)) return made.then((value) => guardedResult(name, value, fault));
    made.catch(fault);
    return undefined;
  };
}

/** A hook may return the function, or several by their names, that is called next. */
function guardedResult(name: string, made: unknown, fault: (error: unknown) => void): unknown {
  if (typeof made === 'function') return guarded(name, made as Hook, fault);
  if (typeof made !== 'object' || made === null || Array.isArray(made)) return made;
  const entries = Object.entries(made);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      typeof value === 'function' ? guarded(key, value as Hook, fault) : value,
    ]),
  );
}

function attempt(work: () => unknown, fault: (error: unknown) => void): unknown {
  try {
    return work();
  } catch (error) {
    fault(error);
    return undefined;
  }
}
