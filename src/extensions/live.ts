import type { InputFieldMap } from '@pothos/core';
import { clientOf } from '../../lib/caller.ts';
import { traits } from '../../lib/field-traits.ts';
import { isObject } from '../../lib/is-object.ts';
import type { PullStream } from '../../lib/pull-stream.ts';
import type { Viewer } from '../domain/auth/viewer.ts';
import { type ReadRows, ROW_KEY, type Row, type RowChanges } from '../domain/live-rows.ts';
import type { BackendSettings } from '../gateway/backend-client.ts';
import { reads } from '../schema/account-read.ts';
import { builder } from '../schema/builder.ts';
import { Context } from '../schema/context.ts';
import { exposed } from '../schema/exposed.ts';
import { changesArgs, eventFields, watching } from '../schema/live.ts';
import type { Services } from '../schema/services.ts';
import { nonNull, perAccount } from '../schema/sharing.ts';
import { POLLS_PER_SECOND } from './backend-settings.ts';
import { listSize, shared } from './extension-fields.ts';
import { fault, shown as shownOf } from './faults.ts';
import { withinDeadline } from './field-deadline.ts';
import type { ExtensionContext, LiveList } from './kit.ts';
import {
  COUNT,
  checkOptions,
  FUNCTION,
  LIST_OF_TEXTS,
  MILLISECONDS,
  NAME,
  type Rules,
  required,
} from './option-rules.ts';
import { frozenJson, ownCopy } from './read-only.ts';
import { ResolverContext } from './resolver-context.ts';

/** The options of a list of any rows. */
export interface Options
  extends Omit<LiveList<Record<string, unknown>, InputFieldMap>, 'type' | 'key' | 'read'> {
  readonly type: unknown;
  key(row: object): unknown;
  read(context: ExtensionContext, args: object): unknown;
}

/** A live list as an extension has declared it. */
export type DeclaredList = ReturnType<typeof declareLive>;

const MAX_ROWS = 10_000;
const USUAL_SIZE = 50;

const RULES: Rules<keyof Options> = {
  name: required(NAME),
  changes: NAME,
  description: [(value) => typeof value === 'string', 'a text'],
  type: required([(value) => typeof value === 'object' && value !== null, 'a type of the builder']),
  key: required(FUNCTION),
  read: required(FUNCTION),
  everyMs: required([
    (value) => MILLISECONDS[0](value) && Number(value) >= 100,
    'a whole number from 100 on',
  ]),
  backend: [isObject, 'what backend(…) has returned'],
  of: [(value) => value === 'account' || value === 'everybody', 'account or everybody'],
  args: [isObject, 'arguments of the builder'],
  moving: LIST_OF_TEXTS,
  listSize: COUNT,
};

/** Adds the fields of a live list to the schema. `added` is told of the elements that are not the extension's own code. */
export function declareLive(
  extension: string,
  options: Options,
  backend: BackendSettings | null,
  added: (element: string) => void,
) {
  checkOptions('live', 'the live list', RULES, options);
  const { name, changes = `${name}Changes`, everyMs, moving = [], args = {} } = options;
  const RowRef = options.type as ReturnType<typeof builder.objectRef<Row>>;
  const isPublic = options.of === 'everybody';
  if (!isPublic && Object.keys(args).length > 0) {
    throw fault(`args of the live list ${name} are for a list of everybody`);
  }
  const header = options.backend && backend?.viewerHeader;
  if (isPublic && header) {
    const of = backend.name;
    throw fault(`the live list ${name} is everybody’s, and ${of} is sent the viewer’s ${header}`);
  }
  const taken = Object.keys(args).find((each) => Object.hasOwn(changesArgs, each));
  if (taken !== undefined) {
    throw fault(`the argument ${taken} of the live list ${name} has its subscription already`);
  }
  const { description = 'A live list.', listSize: size = USUAL_SIZE } = options;
  const typeName = `${changes[0]?.toUpperCase()}${changes.slice(1)}`;
  added(typeName);
  added(`Subscription.${changes}`);

  const readRows = async (context: ResolverContext, given: object, before: ReadRows | null) =>
    rowsOf(options, await options.read(context, given), before);

  builder.queryField(name, (t) =>
    t.field({
      ...listSize(size),
      ...(isPublic && shared({ seconds: everyMs / 1_000 })),
      type: [RowRef],
      nullable: true,
      description,
      args: args as Record<never, never>,
      resolve: async (_root, given, context) => {
        const own = context as unknown as ResolverContext;
        if (!isPublic) await own.proved();
        return (await readRows(own, given, null)).rows;
      },
    }),
  );
  const ofList = traits({ ...perAccount.extensions, listSize: size });
  const ofTicks = traits({ ...ofList.extensions, ...reads('ticks').extensions });
  const ChangesRef = builder.objectRef<RowChanges>(typeName).implement({
    description: 'What turns the list that the client holds into the present one.',
    fields: (t) => {
      const fields = {
        ...eventFields(t),
        ...exposed(t, perAccount, {
          '[ID!]!': { closed: 'The keys of those that are no longer in the list.' },
        }),
        upserted: t.expose('upserted', {
          ...nonNull(ofList, 'The entries that are new or have changed.'),
          type: [RowRef],
        }),
        ...(moving.length > 0 && {
          ticks: t.expose('ticks', {
            ...nonNull(
              ofTicks,
              `The entries of which nothing but ${moving.join(', ')} has changed: where this is selected, they are not in \`upserted\`. A snapshot has none.`,
            ),
            type: [RowRef],
          }),
        }),
      };
      for (const field of Object.keys(fields)) added(`${typeName}.${field}`);
      return fields;
    },
  });
  builder.subscriptionField(changes, (t) =>
    t.field({
      ...perAccount,
      type: ChangesRef,
      nullable: false,
      description: `${description} As a snapshot, then as what changed. An event comes every \`heartbeatSeconds\` at least, also when nothing changed.`,
      args: { ...args, ...changesArgs } as typeof changesArgs,
      subscribe: async (_root, given, context): Promise<PullStream<RowChanges>> => {
        const { after, intervalMs, heartbeatSeconds, ...own } = given;
        const how = { after, intervalMs, heartbeatSeconds, ticks: context.planOf().has('ticks') };
        const rows = context.services.live.get(name);
        if (rows === undefined) throw new Error(`the live list ${name} is not open`);
        if (isPublic) {
          const client = clientOf(context.scope.caller);
          return rows.watch({ kind: 'client', client }, own, how);
        }
        return watching(context, how, (proof, viewer) =>
          rows.watch({ kind: 'account', proof, viewer }, {}, how),
        );
      },
      resolve: (event: RowChanges) => event,
    }),
  );

  const operation = `${extension}.${name}`;
  return {
    name,
    operation,
    backend: backend?.name ?? null,
    pollsPerSecond: backend?.pollsPerSecond ?? POLLS_PER_SECOND,
    everyMs,
    isPublic,
    moving,
    /** Makes the function that polls: the extension's own read, within its deadline. */
    reader:
      (services: Services, ms: number) =>
      (viewer: Viewer | null, given: object, before: ReadRows | null) => {
        const own = new Context(services, viewer ?? { token: null, priority: 'poll' });
        const context = new ResolverContext(own, extension, isPublic);
        const deadline = { extension, operation, ms, isWrite: false };
        const run = () => readRows(context, ownCopy(given), before);
        return withinDeadline(deadline, context, run) as Promise<ReadRows>;
      },
  };
}

/** Returns the rows of a read as JSON that no code can change; the rows of before where they are the same. */
export function rowsOf(
  { name, key }: Pick<Options, 'name' | 'key'>,
  given: unknown,
  before: ReadRows | null,
): ReadRows {
  const list = `the live list ${name}`;
  if (!Array.isArray(given))
    throw fault(`read of ${list} must return a list, not ${shownOf(given)}`);
  if (given.length > MAX_ROWS) throw fault(`${list} has more than ${MAX_ROWS} rows`);
  const text: unknown = JSON.stringify(given);
  if (typeof text !== 'string') throw fault(`${list} is nothing in JSON`);
  if (text === before?.text) return before;
  const keys = new Set<unknown>();
  const rows = (JSON.parse(text) as unknown[]).map((row) => {
    if (!isObject(row)) throw fault(`a row of ${list} must be an object, not ${shownOf(row)}`);
    const own: unknown = key(row);
    if (typeof own !== 'string')
      throw fault(`key of ${list} must return a text, not ${shownOf(own)}`);
    if (keys.has(own)) throw fault(`two rows of ${list} have one key`);
    keys.add(own);
    return frozenJson({ ...row, [ROW_KEY]: own } satisfies Row);
  });
  return { rows, text };
}
