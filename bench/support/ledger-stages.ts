/** A stage of a request, and how it is left out: code that is appended to one of the project's files. */
export interface Stage {
  readonly name: string;
  /** In `src`. */
  readonly file: string;
  readonly code: string;
}

/**
 * The stages in the order in which a request meets them. `off(stage, function, substitute)` makes a function that calls
 * the substitute while the stage is left out. What later stages read is left there by substitutes as it was before.
 */
export const STAGES: readonly Stage[] = [
  method('receive buffer', 'engine/receive/receive-buffers.ts', 'ReceiveBuffers', {
    open: '() => {}',
    of: '() => ({ isStopped: false, requestBegan() {}, requestTaken() {} })',
  }),
  call('cross-site check', 'engine/http/cors.ts', 'isCrossSite', '() => false'),
  call('count of messages', 'engine/http/flood-guard.ts', 'countRequest', `() => 'within'`),
  call('CORS headers', 'engine/http/cors.ts', 'setCorsHeaders', '() => {}'),
  call('doubled headers', 'engine/request/doubled-headers.ts', 'hasDoubledHeader', '() => false'),
  made('client name', 'engine/request/client-names.ts', 'createClientNames', {
    fromHeaders: '() => null',
  }),
  call(
    'negotiation',
    'engine/http/negotiation.ts',
    'negotiated',
    `() => ({ single: 'application/json', events: null })`,
  ),
  method('token buckets', 'lib/limits/limiter.ts', 'Limiter', {
    take: '() => ({ isOver: false, left: 1, most: 1, waitMs: 0 })',
    spend: '() => ({ isOver: false, left: 1, most: 1, waitMs: 0 })',
  }),
  {
    name: 'who is charged',
    file: 'src/domain/auth/proof.ts',
    code: `ProofLedger = class extends ProofLedger {
      constructor(options) {
        super(options);
        const client = addressClient('127.0.0.1');
        this.clientOf = off('who is charged', this.clientOf, () => client);
      }
    };`,
  },
  {
    name: 'admission',
    file: 'engine/admission/admission.ts',
    code: `{
      const decide = admit;
      let kept = null;
      admit = off('admission', (...given) => {
        const operation = decide(...given);
        kept ??= operation;
        return operation;
      }, (_parts, _caller, transport) => {
        const { maxFields, scheduler, client } = kept.meter;
        const meter = new kept.meter.constructor({ maxFields, scheduler, client, estimate: 1 });
        return { ...kept, transport, meter };
      });
    }`,
  },
  {
    name: 'execution with its call',
    file: 'engine/execution/execution.ts',
    code: `{
      const create = createExecution;
      createExecution = (parts) => {
        const execution = create(parts);
        let kept = null;
        const start = off('execution with its call', (context) => {
          const result = execution.start(context);
          kept ??= result;
          return result;
        }, () => kept);
        return { ...execution, start };
      };
    }`,
  },
  {
    name: 'proof of the token',
    file: 'src/domain/auth/viewer-gateway.ts',
    code: `ViewerGateway = class extends ViewerGateway {
      constructor(parts) {
        super(parts);
        const { read } = ViewerGateway.prototype;
        this.read = off('proof of the token', read, (viewer, wanted) =>
          parts.client.read(viewer.caller, wanted, { login: viewer.login }));
      }
    };`,
  },
  around('retries', 'src/gateway/resilience/retries.ts', 'withRetries'),
  around('breakers', 'src/gateway/resilience/breakers.ts', 'withBreakers'),
  around('bulkheads', 'src/gateway/resilience/bulkhead.ts', 'withBulkheads'),
  made('metrics of calls', 'src/gateway/gateway-metrics.ts', 'createGatewayMetrics', {
    called: '() => {}',
  }),
  method('calls of the summary', 'engine/request/request-summary.ts', 'RequestSummary', {
    called: '() => {}',
  }),
  made('line of the log', 'lib/log.ts', 'createLog', { line: '() => {}' }),
  made('metrics of requests', 'engine/server-metrics.ts', 'createServerMetrics', {
    requestEnded: '() => {}',
  }),
  made('end of the request, with both', 'engine/request/access-log.ts', 'createAccessLog', {
    ended: '() => {}',
  }),
];

/** A function that wraps another one. */
function around(name: string, file: string, wrapper: string): Stage {
  const code = `{
    const wrap = ${wrapper};
    ${wrapper} = (send, ...rest) => off('${name}', wrap(send, ...rest), send);
  }`;
  return { name, file, code };
}

function call(name: string, file: string, called: string, substitute: string): Stage {
  return { name, file, code: `${called} = off('${name}', ${called}, ${substitute});` };
}

function method(
  name: string,
  file: string,
  type: string,
  substitutes: Readonly<Record<string, string>>,
): Stage {
  const code = Object.entries(substitutes).map(([method, substitute]) => {
    const called = `${type}.prototype.${method}`;
    return `${called} = off('${name}', ${called}, ${substitute});`;
  });
  return { name, file, code: code.join('\n') };
}

/** Methods of what a function makes. */
function made(
  name: string,
  file: string,
  factory: string,
  substitutes: Readonly<Record<string, string>>,
): Stage {
  const methods = Object.entries(substitutes).map(
    ([method, substitute]) => `${method}: off('${name}', made.${method}, ${substitute}),`,
  );
  const code = `{
    const create = ${factory};
    ${factory} = (...given) => {
      const made = create(...given);
      return Object.assign(made, { ${methods.join(' ')} });
    };
  }`;
  return { name, file, code };
}
