import type { GraphQLSchema } from 'graphql';
import type { Turns } from '../../lib/event-loop-turns.ts';
import { clientOf, type RequestCaller, type Token } from '../../lib/limits/request-caller.ts';
import type { Tracing } from '../../lib/tracing/tracing.ts';
import type { ErrorMasking } from '../core/error-masking.ts';
import { Refusal, refusal, tooComplex } from '../core/errors.ts';
import { Meter } from '../core/meter.ts';
import type { Documents, PreparedDocument, PreparedOperation } from '../documents/documents.ts';
import type { SizeOf } from '../documents/list-sizes.ts';
import { definedVariables, readParams } from '../documents/params.ts';
import type { TrustedDocuments } from '../documents/trusted-documents.ts';
import type { ClientLimits } from './client-limits.ts';
import type { Operation, OperationContext, TransportContext } from './operation.ts';

/** The parts and options that operations need, on every transport. */
export interface OperationServices {
  readonly schema: GraphQLSchema;
  readonly limits: ClientLimits;
  readonly masking: ErrorMasking;
  readonly documents: Documents;
  readonly trusted: TrustedDocuments;
  /** The maximum number of fields that an answer may contain. */
  readonly maxCost: number;
  /** New documents are prepared in turns of their own. */
  readonly turns: Turns;
  readonly sizeOf: SizeOf;
  /** Makes the context that the operation's resolvers read with. */
  readonly createContext: (operation: Operation) => OperationContext;
  /** Whether results report their costs. */
  readonly receipts: boolean;
  readonly tracing: Tracing | null;
  /**
   * Calls `ended` when the token expires or is refused, with the error that ends all of its subscriptions. Returns a
   * function that stops watching.
   */
  readonly watchToken: (token: Token, ended: (error: Error) => void) => () => void;
}

/**
 * Decides whether an operation is executed, for every transport, or throws a Refusal. The cheapest step is first, and
 * no document is parsed before its client is charged. `sent` is JSON of any shape.
 */
export async function admit(
  services: OperationServices,
  caller: RequestCaller,
  transport: TransportContext,
  sent: unknown,
): Promise<Operation> {
  const { limits, documents, trusted, maxCost, sizeOf } = services;
  const client = clientOf(caller);
  transport.summary.mayBeMutation = mayBeMutation(sent);
  limits.charge(client, transport);

  const requested = trusted.find(readParams(sent), transport.summary);
  // One turn of the event loop may receive a hundred new documents, and each has a turn of its own.
  if (!documents.isPrepared(requested.query)) await services.turns.next();
  const isNew = !documents.isPrepared(requested.query);
  const document = documents.prepare(requested.query);
  if (isNew) limits.chargeTokens(client, document.tokens);
  if (document.kind === 'invalid') throw new Refusal(document.errors);
  const prepared = selectOperation(document, requested.operationName, transport);

  const params = { ...requested, variables: definedVariables(prepared.node, requested.variables) };
  const given = { operationName: params.operationName, variableValues: params.variables };
  const wholeArgs = documents.executionArgs(document.document, given);
  const facts = prepared.facts.for(wholeArgs.variableValues.coerced, sizeOf);
  if (facts.cost > maxCost) throw new Refusal([tooComplex('MAX_COST', facts.cost, maxCost)]);

  const partsFormat = prepared.node.operation === 'query' ? transport.partsFormat : null;
  const inParts = partsFormat && document.deferring;
  const args = inParts ? documents.executionArgs(inParts, given) : wholeArgs;
  trusted.logIfUntrusted(params, document);
  return {
    transport,
    caller,
    params,
    document,
    prepared,
    args,
    facts,
    meter: new Meter(maxCost, facts),
    partsFormat: inParts && partsFormat,
    client,
    issuedToken: null,
    mutation: null,
    results: null,
  };
}

/** Whether the text of a request can have a mutation. It is read before the document is. */
export function mayBeMutation(sent: unknown): boolean {
  const query = typeof sent === 'object' && sent !== null && 'query' in sent ? sent.query : null;
  // A document sent by its hash has no text, or an empty one over a WebSocket.
  return typeof query !== 'string' || query === '' || query.includes('mutation');
}

/** Finds the operation. Refuses mutations by GET, which caches may repeat, and subscriptions without an event format. */
function selectOperation(
  document: PreparedDocument,
  name: string | null,
  { summary, takesEvents }: TransportContext,
): PreparedOperation {
  const prepared = operationOf(document, name);
  if (prepared === null) {
    const message =
      name === null
        ? 'The document has no operation, or several: name one of them in `operationName`.'
        : 'The document has no operation of that name.';
    throw refusal('GRAPHQL_VALIDATION_FAILED', message);
  }
  const { node, logName } = prepared;
  summary.type = node.operation;
  summary.mayBeMutation = node.operation === 'mutation';
  summary.operationName = summary.isTrusted ? (node.name?.value ?? null) : logName;
  if (node.operation === 'mutation' && summary.method === 'GET') {
    const options = { status: 405, headers: { allow: 'POST' } };
    throw refusal('BAD_USER_INPUT', 'Mutations are sent by POST.', options);
  }
  if (node.operation === 'subscription' && !takesEvents) {
    const message =
      'A subscription needs text/event-stream, or multipart/mixed with subscriptionSpec="1.0".';
    throw refusal('NOT_ACCEPTABLE', message, { status: 406 });
  }
  return prepared;
}

function operationOf(
  { operations }: PreparedDocument,
  name: string | null,
): PreparedOperation | null {
  if (name !== null) return operations.get(name) ?? null;
  const [only] = operations.values();
  return only && operations.size === 1 ? only : null;
}
