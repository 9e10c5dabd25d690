/** The request names nobody: its token is missing, expired, unreadable, or was refused here. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
}
