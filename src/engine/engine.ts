import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import type { ClientKey, ClientKeys } from '../domain/auth/client-key.ts';
import type { Eventually } from '../lib/eventually.ts';
import { INEXACT } from '../lib/exact-json.ts';
import type { FairScheduler } from '../lib/fair-scheduler.ts';
import { type CostInputs, evaluate } from '../plugins/cost/amount.ts';
import type { CostQuota } from '../plugins/cost/cost-quota.ts';
import {
  blamedArgument,
  isAboutNullMember,
  nullMemberError,
} from '../plugins/documents/blamed-argument.ts';
import type { PreparedDocument, PreparedOperation } from '../plugins/documents/documents.ts';
import { redactTexts, textsIn } from '../plugins/documents/redact-literals.ts';
import type { Publisher } from '../plugins/errors/publisher.ts';
import type { Quota, RequestQuota } from '../plugins/limits/request-quota.ts';
import { tooComplex } from '../plugins/limits/structure.ts';
import type { SubscriptionSlots } from '../plugins/limits/subscription-slots.ts';
import { variablesError } from '../plugins/limits/variable-limits.ts';
import type { EventPace } from '../plugins/live/event-pace.ts';
import { EventResults } from '../plugins/live/event-results.ts';
import {
  type GraphQLRequest,
  memoryIsShort,
  type Refused,
  readRequest,
  refused,
  tooManySubscriptions,
} from '../plugins/request.ts';
import type { ResponseCache } from '../plugins/response-cache/response-cache.ts';
import { traceOperation } from '../plugins/traces/operation-trace.ts';
import type { DocumentSource } from '../plugins/trusted-documents/document-source.ts';
import { requestError } from '../schema/public-error.ts';
import type { RequestSummary } from '../schema/request-summary.ts';
import type { Services } from '../schema/services.ts';

import {
  type IncomingRequest,
  OpenedOperation,
  type OperationParts,
  type Ready,
  type RequestContext,
} from './opened-operation.ts';

export interface EngineOptions {
  readonly schema: GraphQLSchema;
  readonly documents: DocumentSource;
  readonly clients: ClientKeys;
  readonly quota: RequestQuota;
  readonly subscriptions: SubscriptionSlots;
  readonly maxCost: number;
  readonly costs: CostQuota;
  readonly scheduler: FairScheduler;
  readonly pace: EventPace;
  readonly services: Services;
  readonly publisher: Publisher;
  readonly responses: ResponseCache;
  readonly isMemoryShort: () => boolean;
}

// A screen of one account's; a list of the catalog's is more.
const CHEAP_COST = 1_000;

/** The life cycle of a document, the same for every transport: checked, prepared once, run many times. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #parts: OperationParts;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#parts = { ...options, eventResults: new EventResults(options) };
  }

  /**
   * Synchronous, unless the request counter is in a shared store, or new documents have used up this
   * turn of the event loop.
   */
  open(params: unknown, incoming: IncomingRequest): Eventually<Ready | Refused> {
    const opened = this.#take(params, incoming);
    return opened instanceof Promise
      ? opened.then((operation) => this.#noted(operation, incoming))
      : this.#noted(opened, incoming);
  }

  /** Counts the errors of a request that a transport refuses before it is opened. */
  refused(errors: readonly GraphQLError[], summary: RequestSummary): void {
    this.#options.publisher.refused(errors, summary);
  }

  #noted(opened: Ready | Refused, { summary }: IncomingRequest): Ready | Refused {
    if (!opened.ready) this.refused(opened.errors, summary);
    return opened;
  }

  #take(params: unknown, incoming: IncomingRequest): Eventually<Ready | Refused> {
    const client = this.#options.clients.of(incoming.caller);
    const taken = this.#options.quota.take(client);
    return taken instanceof Promise
      ? taken.then((quota) => this.#admit(params, incoming, client, quota))
      : this.#admit(params, incoming, client, taken);
  }

  #admit(
    params: unknown,
    incoming: IncomingRequest,
    client: ClientKey,
    { error, headers }: Quota,
  ): Eventually<Ready | Refused> {
    if (error) return { ...refused([error], 429), headers };
    const full = this.#options.costs.refusal(client);
    if (full) return { ...refused([full.error], 429), headers: { ...headers, ...full.headers } };
    const request = readRequest(params);
    if (request instanceof GraphQLError) {
      return { ...refused([request]), isWellFormed: false, headers };
    }
    const open = () => {
      const opened = this.#open(request, { incoming, client, headers });
      return opened.ready ? opened : { ...opened, headers: { ...headers, ...opened.headers } };
    };
    const { documents, scheduler } = this.#options;
    // A hundred new documents may be received in one turn of the event loop.
    const mayOpen = documents.isPrepared(request) || !scheduler.isSliceOver();
    return mayOpen ? open() : scheduler.turn(client.key).then(open);
  }

  #open(request: GraphQLRequest, requestContext: RequestContext): Ready | Refused {
    const { incoming, client } = requestContext;
    // The depth is limited before anything recurses into the values.
    const unfit = variablesError(request.variables);
    if (unfit) return refused([unfit]);
    const prepared = this.#options.documents.find(request);
    if ('errors' in prepared) return refused(prepared.errors);
    const operation = pickOperation(prepared, request.operationName);
    if (operation instanceof GraphQLError) return refused([operation]);
    const { summary } = incoming;
    summary.type = operation.node.operation;
    summary.isTrusted = this.#options.documents.isTrusted(prepared);
    summary.operationName = summary.isTrusted
      ? (operation.node.name?.value ?? null)
      : operation.logName;
    if (operation.node.operation === 'mutation' && !incoming.mayMutate) {
      const error = requestError('BAD_USER_INPUT', 'Mutations are sent by POST.');
      return { ...refused([error], 405), headers: { allow: 'POST' } };
    }
    if (operation.node.operation === 'subscription' && this.#options.subscriptions.isFull(client)) {
      return tooManySubscriptions();
    }
    return this.#ready(request, prepared, operation, requestContext);
  }

  #ready(
    request: GraphQLRequest,
    preparedDocument: PreparedDocument,
    prepared: PreparedOperation,
    requestContext: RequestContext,
  ): Ready | Refused {
    const { services, maxCost, isMemoryShort } = this.#options;
    const { document } = preparedDocument;
    const { variables } = request;
    const { incoming, client } = requestContext;
    const { login } = client;
    const read = prepared.args.read(variables);
    if ('errors' in read) return refused(read.errors.map(blaming(document, variables)));
    const inputs: CostInputs = {
      variables,
      cachedInstruments: () => services.catalogs.heldSize,
      // Only for a proved login: the error would otherwise disclose to a forged token how much an
      // account has.
      cachedPositions: () => (login === undefined ? 0 : services.holdings.positions(login)),
      cachedOrders: () => (login === undefined ? 0 : services.holdings.orders(login)),
    };
    const cost = evaluate(prepared.cost, inputs);
    if (isMemoryShort() && (cost > CHEAP_COST || prepared.node.operation === 'subscription')) {
      return memoryIsShort();
    }
    if (cost > maxCost) return refused([tooComplex('MAX_COST', cost, maxCost)]);
    const ageLimit = evaluate(prepared.ageLimit, inputs);
    const run = { document, prepared, variables, values: read.values, cost, ageLimit };
    if (!incoming.trace) return new OpenedOperation(this.#parts, requestContext, run);
    const trace = traceOperation(incoming.trace, {
      schema: this.#options.schema,
      document,
      node: prepared.node,
      isTrusted: this.#options.documents.isTrusted(preparedDocument),
    });
    const caller = { ...incoming.caller, trace };
    const traced = { ...requestContext, incoming: { ...incoming, caller } };
    return new OpenedOperation(this.#parts, traced, { ...run, trace });
  }
}

/** Rewrites the errors of variables so that they name the argument and quote no value. */
function blaming(
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
): (error: GraphQLError) => GraphQLError {
  const texts = textsIn(variables);
  return ({ message }) => {
    const argument = blamedArgument(message, document);
    if (argument !== null && isAboutNullMember(message, variables))
      return nullMemberError(argument);
    const more = argument === null ? {} : { argument };
    // GraphQL prints INEXACT as a symbol.
    const shown = message.replaceAll(String(INEXACT), `${INEXACT.description}`);
    return requestError('BAD_USER_INPUT', redactTexts(shown, texts), more);
  };
}

function pickOperation(
  { operations }: PreparedDocument,
  name: string | null,
): PreparedOperation | GraphQLError {
  const [only, ...others] = operations.values();
  if (name === null && only && others.length === 0) return only;
  const named = name === null ? undefined : operations.get(name);
  if (named) return named;
  const message =
    name === null
      ? 'The document has several operations: `operationName` says which one is meant.'
      : 'The document has no operation of that name.';
  return requestError('GRAPHQL_VALIDATION_FAILED', message);
}
