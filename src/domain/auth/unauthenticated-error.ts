/** The request is not authenticated: its token is missing, expired, unreadable, or was refused here. */
export class UnauthenticatedError extends Error {
  override readonly name = 'UnauthenticatedError';
}
