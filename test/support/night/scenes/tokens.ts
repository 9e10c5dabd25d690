import { gatewayFault, restartedWith, type SceneRow } from '../scene.ts';

const JWT_SECRET = 'the key that the service knows, for a night';

/** Tokens, their keys and their claims. */
export const TOKEN_SCENES: readonly SceneRow[] = [
  {
    title: 'The tokens are signed with another key than `JWT_SECRET`',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    environment: { JWT_SECRET },
    begin: (stage) => stage.restartGateway({ secret: 'the key that came after it, in the night' }),
    end: (stage) => stage.restartGateway({ secret: JWT_SECRET }),
  },
  {
    title: 'One operation refuses all tokens, the positions',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    ...gatewayFault({ operation: 'getOpenPositions', kind: 'status', status: 401 }),
  },
  {
    title: 'Every operation refuses all tokens',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    ...gatewayFault({ operation: '*', kind: 'status', status: 401 }),
  },
  {
    title: 'A wrong name in `GATEWAY_LOGIN_CLAIM`',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    ...restartedWith(() => ({ GATEWAY_LOGIN_CLAIM: 'trading_login' })),
  },
];
