import { gatewayFault, opens, restartedWith, type SceneRow } from '../scene.ts';

const UNREACHABLE = ['TradingGraphGatewayUnreachable'];

/** What the gateway does, and what is between it and us. */
export const GATEWAY_SCENES: readonly SceneRow[] = [
  {
    title: 'The gateway is down',
    alerts: UNREACHABLE,
    lines: [opens('ECONNREFUSED')],
    reasons: ['gateway'],
    begin: (stage) => stage.gateway.close(),
    end: (stage) => stage.restartGateway(),
  },
  {
    title: 'The gateway answers 429 to everything',
    alerts: ['TradingGraphGatewayFailing', 'TradingGraphLiveDelayed'],
    reasons: ['RATE_LIMITED'],
    ...gatewayFault({ operation: '*', kind: 'status', status: 429 }),
  },
  {
    title: 'One backend fails, the payments',
    alerts: ['TradingGraphGatewayFailing', 'TradingGraphBudgetBurn'],
    lines: [opens('5xx')],
    reasons: ['gateway'],
    ...gatewayFault({ operation: 'getCustomerId', kind: 'status', status: 503 }),
  },
  {
    title: 'One account fails, of many',
    alerts: ['TradingGraphPositionsOld'],
    // The traffic has this account place orders alone, which end unknown.
    ...gatewayFault({ operation: '*', kind: 'status', status: 500, login: 800_001 }),
  },
  {
    title: 'Orders are cut off after they were sent',
    alerts: ['TradingGraphOrderUnknown'],
    ...gatewayFault({ operation: 'openPosition', kind: 'reset-after', times: 3 }),
  },
  {
    title: 'The order operation hangs',
    alerts: ['TradingGraphOrders'],
    environment: { ORDER_TIMEOUT_MS: '2000' },
    ...gatewayFault({ operation: 'openPosition', kind: 'hang' }),
  },
  {
    title: 'The gateway hangs',
    alerts: UNREACHABLE,
    lines: [opens('timeout')],
    reasons: ['gateway'],
    ...gatewayFault({ operation: '*', kind: 'hang' }),
  },
  {
    title: 'The gateway answers with garbage',
    alerts: ['TradingGraphGatewayFailing', 'TradingGraphLiveDelayed'],
    reasons: ['GATEWAY_CONTRACT'],
    ...gatewayFault({ operation: 'getOpenPositions', kind: 'garbage' }),
  },
  {
    // Each call is refused, in words of the interface: no reason of readiness, and nobody's orders are sent.
    title: 'A wrong path in `GATEWAY_URL`',
    alerts: ['TradingGraphGatewayFailing', 'TradingGraphOrders'],
    ...restartedWith(({ gateway }) => ({ GATEWAY_URL: `${gateway.url}/elsewhere` })),
  },
  {
    title: 'The name of the gateway is gone from DNS',
    alerts: UNREACHABLE,
    reasons: ['GATEWAY_UNAVAILABLE'],
    ...restartedWith(({ gateway }) => ({
      GATEWAY_URL: `http://gateway.invalid:${gateway.port}`,
    })),
  },
  {
    title: 'One operation is slow: each of its calls takes 3 s',
    alerts: ['TradingGraphGatewaySlow'],
    ...gatewayFault({ operation: 'getCustomerId', kind: 'delay', delayMs: 3_000 }),
  },
  {
    title: 'The clock is two hours off the gateway’s',
    alerts: ['TradingGraphClockSkewed'],
    reasons: ['gateway'],
    ...gatewayFault({ operation: '*', kind: 'clock', shiftSeconds: 7_200 }),
  },
  {
    title: 'The certificate of the gateway is of an unknown CA',
    alerts: UNREACHABLE,
    reasons: ['GATEWAY_UNAVAILABLE'],
    ...restartedWith(({ tls }) => ({ GATEWAY_URL: tls.url })),
  },
  {
    title: 'The certificate of the gateway expires',
    needs: 'TLS',
    alerts: UNREACHABLE,
    lines: [opens('CERT_HAS_EXPIRED')],
    reasons: ['gateway'],
    begin: async ({ tls }) => tls.present('expired'),
    end: async ({ tls }) => tls.present('valid'),
  },
];
