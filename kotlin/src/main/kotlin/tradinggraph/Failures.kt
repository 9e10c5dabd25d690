package tradinggraph

import java.net.ConnectException
import java.net.NoRouteToHostException
import java.net.UnknownHostException
import javax.net.ssl.SSLHandshakeException
import kotlin.random.Random
import kotlinx.serialization.json.*

/**
 * What failed. [code] is the server's, or this client's: `NETWORK` (no answer of the server), `PROTOCOL`, `SIGNED_OUT` and `STORAGE`;
 * of orders also `EXPIRED`, `VOIDED` and `SETTLED`, and `IN_DOUBT` or `UNDER_WAY` if the order before has no outcome yet.
 */
public class TradingGraphException(
  public val code: String,
  message: String,
  /** Whether the same request can succeed later. */
  public val retryable: Boolean = false,
  /** What else the server says, such as `requestId`, `retryAfter` and `argument`. */
  public val extensions: JsonObject = NOTHING,
  /** The field that failed; null if the whole request did. */
  public val path: JsonArray? = null,
  cause: Throwable? = null,
) : Exception(message, cause) {
  internal val retryAfterSeconds get() = extensions.number("retryAfter") ?: 0.0

  /** Whether only the time was over, which says less than any other failure. */
  internal val isLate get() = message == LATE

  /** Whether nothing of the request has left this device. */
  internal val neverLeft
    get() = cause is ConnectException || cause is UnknownHostException || cause is NoRouteToHostException || cause is SSLHandshakeException
}

internal const val UNAUTHENTICATED = "UNAUTHENTICATED"
internal const val SIGNED_OUT = "SIGNED_OUT"
internal const val NETWORK = "NETWORK"
private const val LATE = "No answer came in time."
private const val MAX_PAUSE_MS = 30_000

internal fun networkError(message: String, cause: Throwable? = null) =
  TradingGraphException(NETWORK, message, retryable = true, cause = cause)
internal fun lateError() = networkError(LATE)
internal fun offline() = networkError("This device is offline.")
internal fun protocolError(message: String) = TradingGraphException("PROTOCOL", message)
internal fun signedOut(message: String = "Nobody is signed in.") = TradingGraphException(SIGNED_OUT, message)
internal fun otherAccount() = signedOut("Another account is signed in.")

/** An error of an answer, with the extensions that its headers give. */
internal fun serverError(error: JsonElement?, headers: JsonObject = NOTHING): TradingGraphException {
  val extensions = JsonObject(headers + (error.field("extensions") as? JsonObject).orEmpty())
  val (code, message) = extensions.text("code") to error.text("message")
  val retryable = extensions.boolean("retryable") == true
  val path = error.field("path") as? JsonArray
  return TradingGraphException(code ?: "INTERNAL", message ?: "The server reports an error.", retryable, extensions, path)
}

/** Exponential back-off with full jitter, so that clients that failed together do not try again in step; after the server's pause. */
internal fun backoffMs(failures: Int, random: Random, floorSeconds: Double = 0.0): Long =
  (floorSeconds * 1_000 + random.nextDouble() * minOf(MAX_PAUSE_MS, 1_000 shl minOf(failures, 10))).toLong()
