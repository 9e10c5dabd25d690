import { authenticated, refuse } from '../refusals.ts';

/** Operation 10. */
export const getSession = authenticated(({ operation, params, user }, { world }) => {
  if (params.login !== String(user.login)) {
    return refuse(operation, 403, 'FORBIDDEN', 'This login is not the login of the token.');
  }
  return { status: 200, body: world.snapshots.session(world.account(user)) };
});

/** Operation 12. */
export const getOpenPositions = authenticated(({ user }, { world }) => ({
  status: 200,
  body: world.snapshots.positions(world.account(user)),
}));
