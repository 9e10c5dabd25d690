package tradinggraph

import kotlinx.coroutines.*
import kotlinx.coroutines.sync.*

private const val MAX_REFUSED = 4
private const val DEADLINE_MS = 30_000L
private const val PAUSE_MS = 5_000L
private const val MAX_PAUSE_MS = 60_000L

/** A renewed token that is refused in this time is not renewed once more. */
private const val NEW_MS = 60_000L

/**
 * Gives the app's token, or null if nobody is signed in. With `force` the last token was refused: it must be a new one. If it throws,
 * it is asked again later, except for `SIGNED_OUT`, which ends the sign-in with that reason.
 */
public typealias TokenSource = suspend TradingGraph.(force: Boolean) -> String?

/** The tokens of the app. One request at a time asks for them, so that all share one renewal. */
internal class Tokens(
  private val scope: CoroutineScope,
  private val device: Device,
  private val source: suspend (force: Boolean) -> String?,
  private val onSignedOut: (TradingGraphException) -> Unit,
) {
  /** Another object after each announcement of the app that another account may be signed in. */
  var signIn = Any()
    private set
  private val lock = Mutex()
  private var current: String? = null
  private val refused = ArrayDeque<String>()

  /** Since when [current] replaces a refused token; null once the server has accepted it. */
  private var renewed: Stopwatch? = null
  private var failure: TradingGraphException? = null
  private var failures = 0
  private var sinceFailure = Stopwatch(device)
  private var isSignedOut = false

  /** The token to send. Throws `SIGNED_OUT`, or a retryable error if the app's function failed. */
  suspend fun get(): String = alone { present() }

  /** Another token than the refused one. Throws `SIGNED_OUT` if that has just replaced a refused one itself. */
  suspend fun renewed(token: String): String = alone { renew(token) }

  fun changed() {
    signIn = Any()
    current = null
  }

  /** The server has accepted the token. */
  fun accepted(token: String) {
    if (token == current) renewed = null
  }

  /** The network is back, so the app may be asked again at once. */
  fun returned() {
    if (failure?.retryable == true) failure = null
  }

  /** In the client's scope: a request that is cancelled does not cancel the others' renewal. */
  private suspend fun alone(task: suspend () -> String): String = scope.async { lock.withLock { task() } }.await()

  private suspend fun present(): String = ask(force = false).let { if (it in refused) renew(it) else it }

  private suspend fun renew(token: String): String {
    // Another request has renewed it.
    current?.takeIf { it != token && it !in refused }?.let { return it }
    failure?.takeIf { sinceFailure.elapsedMs < minOf(MAX_PAUSE_MS, PAUSE_MS shl minOf(failures - 1, 4)) }?.let { throw it }
    if (token !in refused) refused.addLast(token)
    if (refused.size > MAX_REFUSED) refused.removeFirst()
    val age = renewed?.elapsedMs?.takeIf { token == current }
    if (age != null && age < NEW_MS) throw noted(signOut())
    return ask(force = true)
  }

  private suspend fun ask(force: Boolean): String {
    val before = signIn
    val answer = withTimeoutOrNull(DEADLINE_MS) { runCatching { source(force) } }
      ?: Result.failure(networkError("`token` has not answered in 30 s."))
    currentCoroutineContext().ensureActive()
    // Meanwhile another account may have signed in.
    if (before !== signIn) return present()
    val token = answer.getOrElse { thrown ->
      val known = thrown as? TradingGraphException
      if (known?.code == SIGNED_OUT) throw noted(signOut(known), force)
      // What else the app's function throws signs nobody out.
      throw noted(known?.takeIf { it.retryable } ?: networkError("`token` failed: ${thrown.message}", thrown), force)
    }?.removePrefix("Bearer ")?.trim()
    if (token.isNullOrEmpty() || (force && token in refused)) throw noted(signOut(), force)
    if (token !in refused) take(token, force)
    return token
  }

  private fun take(token: String, force: Boolean) {
    isSignedOut = false
    if (token == current) return
    current = token
    renewed = if (force) Stopwatch(device) else null
    failure = null
    failures = 0
  }

  /** After a failed renewal the app is left alone for a while: a loop would overload the server that renews its tokens. */
  private fun noted(error: TradingGraphException, isOfRenewal: Boolean = true): TradingGraphException {
    if (!isOfRenewal) return error
    failure = error
    failures += 1
    sinceFailure = Stopwatch(device)
    return error
  }

  private fun signOut(error: TradingGraphException = signedOut()): TradingGraphException {
    current = null
    if (!isSignedOut) onSignedOut(error)
    isSignedOut = true
    return error
  }
}
