package tradinggraph

import java.time.Instant
import java.util.UUID
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.sync.*
import kotlinx.serialization.json.JsonObject

private const val AT_ONCE = 4

/** A key whose outcome is unknown, or may not have been shown. */
internal data class StoredKey(
  val login: String, val key: String, val order: NewOrder, val sendBefore: Long, val answer: JsonObject? = null,
) {
  val name get() = "orders/$login/$key"
  val madeAt get() = UUID.fromString(key).mostSignificantBits ushr 16
}

/** What all orders of a client share. */
internal class OrderContext(
  val scope: CoroutineScope,
  val requests: Requests,
  val tokens: Tokens,
  val clock: ServerClock,
  val device: Device,
  private val storage: KeyStorage,
  val platform: Platform,
) {
  /** The keys of this run's orders that have no outcome, or whose outcome is being stored. */
  val underWay = mutableSetOf<String>()
  private val writing = Mutex()

  /** Asks for the server's time, unless it is known. */
  suspend fun learnTime() {
    if (clock.now == null || clock.isBehind) requests.send(Outgoing("{ __typename }", repeats = false))
  }

  /** Stores a key. A write that ends after its order was given up is undone, unless the key [isNeeded]. */
  suspend fun keep(stored: StoredKey, isNeeded: () -> Boolean = { true }) = scope.async {
    val entry = jsonOf("input" to stored.order.input, "sendBefore" to stored.sendBefore, "answer" to stored.answer)
    write(stored, entry.toString())
    if (!isNeeded()) drop(stored)
  }.await()

  suspend fun drop(stored: StoredKey) = write(stored, null)

  /** One write at a time, in the order of the calls: a key that is placed again must not be dropped by its former end. */
  private suspend fun write(stored: StoredKey, text: String?) = writing.withLock { guarded { storage.write(stored.name, text) } }

  suspend fun stored(login: String): List<StoredKey> = guarded { storage.read("orders/$login/") }.map { (name, text) ->
    val entry = parseJson(text)
    val sendBefore = entry.number("sendBefore")?.toLong() ?: 0
    val input = entry.field("input") as? JsonObject ?: NOTHING
    StoredKey(login, name.substringAfterLast('/'), NewOrder(input), sendBefore, entry.field("answer") as? JsonObject)
  }

  private suspend fun <T> guarded(call: suspend () -> T): T = try {
    call()
  } catch (cancelled: CancellationException) {
    throw cancelled
  } catch (cause: Exception) {
    throw TradingGraphException("STORAGE", "This device cannot keep the keys of orders.", retryable = true, cause = cause)
  }
}

/** Orders that are placed at most once, and whose outcome is found again after a restart of the app. */
public class Orders internal constructor(private val own: OrderContext) {
  /** A new order. It is sent for 5 s after the tap at most, or for 23 h if it waits for a price, unless [maxWait] is less. */
  public fun ticket(maxWait: Duration? = null): Ticket = Ticket(own, maxWait)

  /**
   * The orders of earlier runs whose outcome the app had not shown, with their outcomes. It sends no order: the key of one that has not
   * arrived is closed. To be called at each start and sign-in. Throws a [TradingGraphException].
   */
  public suspend fun resume(within: Duration = 30.seconds): List<Ticket> = own.scope.async {
    val since = Stopwatch(own.device)
    val stored = withTimeoutOrNull(within) {
      val login = own.requests.login()
      own.learnTime()
      own.stored(login).filter { it.key !in own.underWay }
    } ?: throw lateError()
    val atOnce = Semaphore(AT_ONCE)
    stored.map { async { atOnce.withPermit { resumed(it, within.inWholeMilliseconds - since.elapsedMs) } } }.awaitAll()
  }.await().map { (ticket, settle) -> ticket.also { settle() } }

  private suspend fun resumed(stored: StoredKey, withinMs: Long): Pair<Ticket, () -> Unit> {
    val order = Order(own, stored.order, stored.sendBefore - stored.madeAt, stored)
    val known = stored.answer?.let { Found(outcomeOf(it, stored.key, isFirst = true), it) }
    val found = known ?: order.seek(withinMs, sends = false)
    val settle = { if (found.outcome !is Outcome.Unknown) order.settle(found.answer) }
    return Ticket(own, null, order, found.outcome, stored, isKnown = known != null) to settle
  }
}

/** [step] is null unless the order is under way; [outcome] is the last one. */
public data class TicketState(val step: Step? = null, val outcome: Outcome? = null)

/** The right to place one order, made with the form: however often it is placed, it becomes one order at most. */
public class Ticket internal constructor(
  private val own: OrderContext,
  private val maxWait: Duration?,
  private var order: Order? = null,
  outcome: Outcome? = null,
  private val stored: StoredKey? = null,
  /** Of an order of an earlier run: whether that run had the outcome already, but may not have shown it. */
  public val isKnown: Boolean = false,
) {
  private val shown = MutableStateFlow(TicketState(outcome = outcome))
  private var running: Deferred<Outcome>? = null

  public val state: StateFlow<TicketState> = shown.asStateFlow()

  /** The key; null before the order was first sent. */
  public val key: String? get() = order?.key

  /** What was ordered, and when, by the server's clock; null for an order of this run. */
  public val placed: NewOrder? = stored?.order
  public val placedAt: Instant? = stored?.let { Instant.ofEpochMilli(it.madeAt) }

  /**
   * Places the order, and seeks its outcome for this time. A second tap joins the first. Another order is not placed while this one is
   * under way or in doubt: its outcome is `Unknown`, with `UNDER_WAY` or `IN_DOUBT`. A caller that is cancelled leaves the order going.
   */
  public suspend fun place(placed: NewOrder, within: Duration = 60.seconds): Outcome =
    own.scope.async { start(placed, within) }.await().await()

  /** Asks again for the outcome, or sends an unsent order. Null if there is none. */
  public suspend fun retry(within: Duration = 60.seconds): Outcome? = order?.let { place(it.placed, within) }

  /** Begins another order, unless this one is under way. */
  public fun reset() {
    own.scope.launch {
      if (running?.isActive == true) return@launch
      order = null
      shown.value = TicketState()
    }
  }

  /** Drops an order of an earlier run that the user has dealt with. Until then each start reports an unknown order again. */
  public suspend fun forget(): Unit = own.scope.async { stored?.let { own.drop(it) } ?: Unit }.await()

  private fun start(placed: NewOrder, within: Duration): Deferred<Outcome> {
    val known = order
    val outcome = shown.value.outcome
    val isUnderWay = running?.isActive == true
    val isOther = known != null && known.placed != placed
    if (isOther && (isUnderWay || known.isInDoubt)) return CompletableDeferred(notPlaced(isUnderWay))
    running?.takeIf { isUnderWay }?.let { return it }
    if (outcome is Outcome.Accepted || outcome is Outcome.Rejected) return CompletableDeferred(outcome)
    val next = known?.takeUnless { isOther } ?: Order(own, placed, maxWait?.inWholeMilliseconds)
    order = next
    next.begin()
    // In the client's scope: a form that is closed cancels no order.
    return own.scope.async { run(next, within) }.also { running = it }
  }

  private suspend fun run(order: Order, within: Duration): Outcome {
    val found = order.seek(within.inWholeMilliseconds, sends = true) { shown.value = shown.value.copy(step = it) }
    if (found.outcome is Outcome.Unknown) own.underWay.remove(order.key) else order.settle(found.answer)
    // Another tap is another order.
    if (found.isKeyUsedUp) this.order = null
    shown.value = TicketState(outcome = found.outcome)
    return found.outcome
  }

  private fun notPlaced(isUnderWay: Boolean): Outcome {
    val message = "This order was not sent: the one before has no outcome yet."
    return Outcome.Unknown(null, TradingGraphException(if (isUnderWay) "UNDER_WAY" else "IN_DOUBT", message))
  }
}
