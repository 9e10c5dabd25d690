import {
  backendFails,
  gatewayFault,
  line,
  restartedWith,
  type Scene,
  settingLooksWrong,
} from '../scene.ts';

/** What the gateway does, and what is between it and us. */
export const GATEWAY_SCENES: readonly Scene[] = [
  {
    title: 'The gateway is down',
    alerts: [
      'TradingGraphErrorShareFast',
      'TradingGraphBreakerOpen',
      'TradingGraphFeedsDelayed',
      'TradingGraphOrdersUnsent',
    ],
    lines: [backendFails('reads', 'connect')],
    reasons: ['gateway'],
    begin: (stage) => stage.gateway.close(),
    end: (stage) => stage.restartGateway(),
  },
  {
    title: 'The gateway answers 429 to everything',
    alerts: ['TradingGraphGatewayRateLimited', 'TradingGraphErrorShareFast'],
    lines: [backendFails('reads', '429'), settingLooksWrong('GATEWAY_POLLS_PER_SECOND')],
    reasons: ['settings'],
    ...gatewayFault({ operation: '*', kind: 'status', status: 429 }),
  },
  {
    title: 'One backend fails, the payments',
    alerts: ['TradingGraphBreakerOpen', 'TradingGraphErrorShareFast'],
    lines: [backendFails('payments', '5xx')],
    reasons: ['gateway'],
    ...gatewayFault({ operation: 'getCustomerId', kind: 'status', status: 503 }),
  },
  {
    title: 'One account fails, of many',
    alerts: ['TradingGraphPositionsOld'],
    lines: [
      backendFails('reads', '5xx'),
      {
        says: '`a backend of the gateway still fails` or `… fails no more`, `accounts: 1`',
        fits: ({ msg, accounts }) =>
          accounts === 1 &&
          (msg === 'a backend of the gateway still fails' ||
            msg === 'a backend of the gateway fails no more'),
      },
    ],
    reasons: ['5xx'],
    ...gatewayFault({ operation: '*', kind: 'status', status: 500, login: 800_001 }),
  },
  {
    title: 'Orders are cut off after they were sent',
    alerts: ['TradingGraphOrderUnknown'],
    lines: [backendFails('orders', 'reset')],
    reasons: ['reset'],
    ...gatewayFault({ operation: 'openPosition', kind: 'reset-after', times: 3 }),
  },
  {
    title: 'The gateway hangs',
    alerts: ['TradingGraphBreakerOpen', 'TradingGraphErrorShareFast'],
    lines: [backendFails('reads', 'timeout')],
    reasons: ['gateway'],
    ...gatewayFault({ operation: '*', kind: 'hang' }),
  },
  {
    title: 'The gateway answers with garbage',
    alerts: ['TradingGraphErrorShareFast'],
    lines: [backendFails('reads', 'contract')],
    reasons: ['contract'],
    ...gatewayFault({ operation: 'getOpenPositions', kind: 'garbage' }),
  },
  {
    title: 'A wrong path in `GATEWAY_URL`',
    alerts: ['TradingGraphSettingsWrong'],
    lines: [settingLooksWrong('GATEWAY_URL')],
    reasons: ['settings'],
    ...restartedWith(({ gateway }) => ({ GATEWAY_URL: `${gateway.url}/elsewhere` })),
  },
  {
    title: 'The name of the gateway is gone from DNS',
    alerts: ['TradingGraphSettingsWrong', 'TradingGraphGatewayUnreachable'],
    lines: [settingLooksWrong('GATEWAY_URL'), line('a backend of the gateway fails', 'ENOTFOUND')],
    reasons: ['settings'],
    ...restartedWith(({ gateway }) => ({
      GATEWAY_URL: `http://gateway.invalid:${gateway.port}`,
    })),
  },
  {
    title: 'One operation is slow: each of its calls takes 3 s',
    alerts: ['TradingGraphOperationSlow'],
    lines: [line('an operation of the gateway is slow', '"operation":"getCustomerId"')],
    reasons: ['slow'],
    ...gatewayFault({ operation: 'getCustomerId', kind: 'delay', delayMs: 3_000 }),
  },
  {
    title: 'The clock is two hours off the gateway’s',
    alerts: ['TradingGraphClockSkewed'],
    lines: [line('the clocks here and at the gateway differ')],
    reasons: ['clock'],
    ...gatewayFault({ operation: '*', kind: 'clock', shiftSeconds: 7_200 }),
  },
  {
    title: 'The certificate of the gateway is of an unknown CA',
    alerts: ['TradingGraphSettingsWrong', 'TradingGraphGatewayUnreachable'],
    lines: [
      settingLooksWrong('GATEWAY_URL'),
      line('a backend of the gateway fails', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    ],
    reasons: ['settings'],
    ...restartedWith(({ tls }) => ({ GATEWAY_URL: tls.url })),
  },
  {
    title: 'The certificate of the gateway expires',
    needs: 'TLS',
    alerts: [
      'TradingGraphGatewayUnreachable',
      'TradingGraphErrorShareFast',
      'TradingGraphBreakerOpen',
    ],
    lines: [line('a backend of the gateway fails', 'CERT_HAS_EXPIRED')],
    reasons: ['gateway'],
    begin: async ({ tls }) => tls.present('expired'),
    end: async ({ tls }) => tls.present('valid'),
  },
];
