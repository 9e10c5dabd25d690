package tradinggraph

import java.time.Instant
import java.util.UUID
import kotlinx.coroutines.*
import kotlinx.serialization.json.JsonObject

/** An older order at the market could be carried out at another price than the user has seen. */
private const val MARKET_MS = 5_000L

/** The server takes a key for almost 24 hours. */
private const val MAX_WAIT_MS = 23 * 3_600_000L
private const val ATTEMPT_MS = 10_000L
private const val PAUSE_MS = 250L
private const val MAX_PAUSE_MS = 4_000L
private const val SHOWN_MS = 1_000L

/** A UUIDv8 whose first 48 bits are this time. */
private fun newKey(millis: Long): String {
  val random = UUID.randomUUID()
  return UUID((millis shl 16) or 0x8000 or (random.mostSignificantBits and 0xfff), random.leastSignificantBits).toString()
}

/** What is done for an order: it is sent, its outcome is asked for under the same key, or its key is closed. */
public enum class Step { SENDING, ASKING, CLOSING }

/** The end of a search for an outcome; [answer] is the server's own. */
internal class Found(val outcome: Outcome, val answer: JsonObject? = null) {
  val isKeyUsedUp get() = outcome is Outcome.Unsent && (answer != null || outcome.error.needsOtherKey)
}

/**
 * One order. Its outcome is sought in steps. `SENDING`: no request of it has left; an error leaves it unsent. `ASKING`: one may have left
 * ([isInDoubt]), so it is repeated under its key, and the server joins the two. `CLOSING`: its time is over, so the server is told to
 * refuse its key; an error leaves it unknown.
 */
internal class Order(private val own: OrderContext, val placed: NewOrder, maxWaitMs: Long?, private var entry: StoredKey? = null) {
  var isInDoubt = entry != null
    private set
  val key get() = entry?.key
  private val maxWaitMs = minOf(maxWaitMs ?: if (placed.input.text("kind") == "MARKET") MARKET_MS else MAX_WAIT_MS, MAX_WAIT_MS)
  private var login = entry?.login
  private var signIn = own.tokens.signIn

  /** Since the tap, and its time by the server's clock. For an order of an earlier run: since its key was made. */
  private var tapped = Stopwatch(own.device, entry?.let { maxOf(0, (own.clock.now ?: it.madeAt) - it.madeAt) } ?: 0)
  private var tappedAt = entry?.madeAt

  /** How many requests have left with the key. */
  private var requests = 0
  private var isKeyUsable = entry != null
  private var isClosing = false
  private var taps = 0

  /** The last failure that says more than a time-out. */
  private var reason: TradingGraphException? = null

  private inner class Search(val withinMs: Long, val sends: Boolean) {
    private val since = Stopwatch(own.device)
    val remainingMs get() = maxOf(0, withinMs - since.elapsedMs)

    /** The time in which the order can leave: the second half of a search is for closing its key. */
    val leftMs get() = maxOf(0, minOf(maxWaitMs - tapped.elapsedMs, remainingMs - withinMs / 2))
  }

  private val isOffline get() = own.device.network.value == null

  /** Notes another tap. The user and the time of an unsent order may be others. */
  fun begin() {
    taps += 1
    if (isInDoubt) return
    signIn = own.tokens.signIn
    login = null
    tapped = Stopwatch(own.device)
    tappedAt = null
  }

  /** Finds the outcome, and [sends] the order for that. It throws nothing but cancellation. */
  suspend fun seek(withinMs: Long, sends: Boolean, onStep: (Step) -> Unit = {}): Found {
    reason = null
    isClosing = false
    val failure = try {
      withTimeoutOrNull(withinMs) { run(Search(withinMs, sends), onStep) }?.let { return it }
      reason ?: lateError()
    } catch (error: TradingGraphException) {
      error
    }
    return Found(if (isInDoubt) Outcome.Unknown(null, failure) else Outcome.Unsent(failure))
  }

  private suspend fun run(search: Search, onStep: (Step) -> Unit): Found {
    var refusedTokens = 0
    var failures = 0
    while (true) {
      val wasInDoubt = isInDoubt
      try {
        // Chosen before each attempt: a pause may last hours. An order of an earlier run is first asked for.
        isClosing = isClosing || (search.leftMs == 0L && (if (search.sends) isInDoubt else failures > 0))
        onStep(if (isClosing) Step.CLOSING else if (isInDoubt) Step.ASKING else Step.SENDING)
        return if (isClosing) close(search) else attempt(search)
      } catch (error: TradingGraphException) {
        // A failure from before the first request left says nothing about that request.
        if (!error.isLate) reason = error else if (isInDoubt && !wasInDoubt) reason = null
        if (error.code == UNAUTHENTICATED) refusedTokens += 1
        val changesKey = error.needsOtherKey && !isInDoubt && requests == 1
        if (changesKey) isKeyUsable = false
        val isLast = (error.isLasting && !changesKey) || refusedTokens > 1
        val isAsking = isInDoubt && !isClosing
        if (isLast && !(isAsking && error.mayClose)) throw error
        // Nothing has left: it must not leave without a tap when the network is back.
        if (!isInDoubt && (error.neverLeft || isOffline)) throw error
        val pauseMs = if (isLast) 0 else pauseMs(error, failures)
        val leftMs = if (isClosing) search.remainingMs else search.leftMs
        if (!isAsking && pauseMs >= leftMs) throw reason ?: error
        isClosing = isClosing || isLast
        delay(minOf(pauseMs, leftMs))
        if (search.remainingMs == 0L) throw reason ?: error
      }
      failures += 1
    }
  }

  private fun pauseMs(error: TradingGraphException, failures: Int): Long {
    val ceilingMs = minOf(MAX_PAUSE_MS, PAUSE_MS shl minOf(failures, 10))
    return (error.retryAfterSeconds * 1_000 + ceilingMs / 2 * (1 + own.platform.random.nextDouble())).toLong()
  }

  private suspend fun attempt(search: Search): Found {
    if (!isInDoubt && isOffline) throw offline()
    return within(if (search.sends) search.leftMs else search.remainingMs) {
      val present = own.requests.login()
      if (login?.let { it != present } ?: (signIn !== own.tokens.signIn)) throw otherAccount()
      login = present
      // The order may not have arrived yet.
      if (search.sends) send(search, present) else answered(PLACED_ORDER)
    }
  }

  private suspend fun send(search: Search, login: String): Found {
    val stored = keyed(login)
    val isNeeded = { stored.key in own.underWay || isInDoubt }
    // The key is stored first: otherwise the next run would not know of the order.
    own.keep(stored, isNeeded)
    val wasInDoubt = isInDoubt
    val input = JsonObject(placed.input + jsonOf("idempotencyKey" to stored.key, "sendBefore" to Instant.ofEpochMilli(stored.sendBefore)))
    val leaving = {
      // Timers stand still while a phone sleeps, so the clocks are read once more.
      if (search.leftMs == 0L) throw lateError()
      if (!wasInDoubt && isOffline) throw offline()
      isInDoubt = true
      requests += 1
    }
    try {
      return answered(PLACE_ORDER, jsonOf("input" to input), isFirst = !wasInDoubt, leaving)
    } catch (error: TradingGraphException) {
      // This request did nothing. An earlier one may still arrive.
      if (!error.mayHaveTraded(own.platform.resends)) isInDoubt = wasInDoubt
      throw error
    }
  }

  /** The order with its key, which has the server's time. The key is never made by the device's clock. */
  private suspend fun keyed(login: String): StoredKey {
    if (tappedAt == null || !isKeyUsable) own.learnTime()
    val now = own.clock.now ?: throw networkError("The server's time is unknown: its answers lack `Date` or `X-Request-Id`.")
    val at = tappedAt ?: (now - tapped.elapsedMs).also { tappedAt = it }
    val key = key?.takeIf { isKeyUsable } ?: newKey(if (requests == 0) at else now).also { requests = 0 }
    entry?.takeIf { it.key != key }?.let { old -> own.scope.launch { runCatching { own.drop(old) } } }
    isKeyUsable = true
    own.underWay.add(key)
    return StoredKey(login, key, placed, at + maxWaitMs).also { entry = it }
  }

  private suspend fun close(search: Search): Found = within(search.remainingMs) { answered(VOID_ORDER) }

  private suspend fun answered(
    text: String, variables: JsonObject = jsonOf("key" to key), isFirst: Boolean = false, leaving: () -> Unit = {},
  ): Found {
    val answer = own.requests.send(Outgoing(text, variables, text != PLACED_ORDER, repeats = false, login = login, leaving = leaving))
    val order = answer.data.field("order") as? JsonObject
      ?: throw answer.errors.firstOrNull() ?: networkError("The server has no record of the order yet.")
    return Found(outcomeOf(order, key!!, isFirst), order)
  }

  /** Keeps the server's outcome until the app has had time to show it. */
  fun settle(answer: JsonObject?) {
    isInDoubt = false
    val stored = entry ?: return
    val tap = taps
    own.scope.launch {
      if (answer != null) {
        runCatching { own.keep(stored.copy(answer = answer)) }
        delay(SHOWN_MS)
      }
      if (tap != taps) return@launch
      runCatching { own.drop(stored) }
      if (tap == taps) own.underWay.remove(stored.key)
    }
  }

  /** After [ATTEMPT_MS] a request without an answer is repeated. */
  private suspend fun <T : Any> within(ms: Long, task: suspend () -> T): T =
    withTimeoutOrNull(minOf(ATTEMPT_MS, ms)) { task() } ?: throw lateError()
}
