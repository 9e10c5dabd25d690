import type { TraceSpan, Tracing } from '../lib/tracing/tracing.ts';
import { isGivenUp } from './classify.ts';
import type { Exchange, Send, WireCall } from './exchange.ts';

const FIRST_FAILURE = 400;

/** Creates one span for each attempt. The gateway continues its trace. */
export function withSpans(send: Send, tracing: Tracing, url: string): Send {
  const { hostname, port, protocol } = new URL(url);
  const server = {
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };

  return async (call) => {
    const { description, caller, resends } = call;
    // The path of a call contains a login, so spans have only its template.
    const span = tracing.start({
      name: `${description.method} ${description.path}`,
      kind: 'CLIENT',
      parent: caller.trace?.context,
      attributes: {
        'http.request.method': description.method,
        'url.template': description.path,
        ...server,
        ...(resends && { 'http.request.resend_count': resends }),
        ...(caller.priority === 'poll' && { 'trading_graph.poll': true }),
      },
    });
    const exchange = await send({ ...call, headers: call.headers.concat(span.headers) });
    end(span, call, exchange);
    return exchange;
  };
}

function end(span: TraceSpan, call: WireCall, exchange: Exchange): void {
  if (exchange.sent && exchange.answered) {
    const { status } = exchange;
    const errorType = status >= FIRST_FAILURE ? String(status) : null;
    span.end(errorType, { 'http.response.status_code': status });
  } else if (isGivenUp(call)) span.end(null);
  else span.end(exchange.sent ? exchange.reason : 'not-sent');
}
