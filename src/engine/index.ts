export type { Operation } from './admission/operation.ts';
export type { OperationContext } from './admission/operation-context.ts';
export { createEngine, type Engine } from './create-engine.ts';
export { Documents, type PreparedOperation } from './documents/documents.ts';
export { ManifestError, readManifest } from './documents/manifest.ts';
export { TrustedDocuments, type TrustedDocumentsOptions } from './documents/trusted-documents.ts';
export {
  ENGINE_LIMITS,
  type EngineLimitName,
  type EngineLimitSettings,
  FIXED_LIMITS,
} from './operation/limits.ts';
export type { TeamPlugin } from './pipeline/pipeline.ts';
export { createAdminServer } from './transports/admin/admin-server.ts';
export { CONNECTIONS, type ConnectionBounds } from './transports/connections/connection-bounds.ts';
export type { HttpReply } from './transports/http/reply.ts';
export {
  type Site,
  type StaticFile,
  sendFile,
  sendNotFound,
  sendPage,
  wantsPage,
} from './transports/http/site.ts';
export { type AllowedOrigins, isAllowedPage } from './transports/requests/origins.ts';
export { Readiness } from './transports/requests/readiness.ts';
export { ServerMetrics } from './transports/requests/server-metrics.ts';
