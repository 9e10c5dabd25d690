package tradinggraph

import kotlin.coroutines.cancellation.CancellationException
import kotlin.random.Random
import kotlinx.coroutines.*
import kotlinx.coroutines.flow.*
import kotlinx.serialization.json.JsonObject

private const val CONNECTING_MS = 5_000L
private const val POLL_MS = 5_000L
private const val INSTANT_MS = 1_000L

/** How long a hidden app keeps its connection. */
private const val HIDDEN_MS = 30_000L
private const val SHORT_LIFE_MS = 2_000L

/** After so many refused sockets in a row the account is asked for by queries. */
private const val UNREACHABLE_AFTER = 2

/** Not to be repeated at once, but not for ever: a faulty answer is mended at some time, a locked account opened. */
private val PASSING = setOf("GATEWAY_REFUSED", "GATEWAY_CONTRACT", "INTERNAL", "PROTOCOL")

/** Where a [LiveAccount] gets its events from. */
public interface LiveSource {
  /**
   * The events of `accountChanges` after this cursor, which is read when the subscription is sent; null: from a snapshot. The flow
   * fails with a [TradingGraphException] for an error of the server, and with any other exception if the connection is lost.
   */
  public fun events(after: () -> String?): Flow<JsonObject>

  /** The whole account as an event, by a query, while no socket opens. Null if the source has no query. */
  public suspend fun polled(): JsonObject? = null

  /** The app is shown again, or has another network. */
  public fun returned() {}
}

/** The refused token was renewed, so that the next connection can open at once. */
internal class TokenRenewed : Exception("The token was renewed.")

/** One account, live while [state] has collectors. Without them, or hidden, it keeps its rows. The scope has one thread. */
public class LiveAccount(
  scope: CoroutineScope,
  private val source: LiveSource,
  private val device: Device = AlwaysOn,
  private val options: LiveOptions = LiveOptions(),
  private val random: Random = Random,
) {
  private val shown = MutableStateFlow(AccountState())
  private val attempts = MutableStateFlow(0)
  private var folded: Folded? = null

  /** Whether the list lacks an event, so that its cursor must not be used. */
  private var hasGap = false
  private var error: TradingGraphException? = null
  private var isConnecting = true
  private var isFollowing = false
  private var isPolled = false
  private var polling: Job? = null

  /** Since when a connection opens or is open, and since its last event. */
  private var attempt: Stopwatch? = null
  private var lastEvent: Stopwatch? = null

  /** Connections that were lost since the last event, and those of them that did not open. */
  private var losses = 0
  private var refusals = 0

  /** Subscriptions that the server ended, or that lacked an event, since one had a second event that fitted. */
  private var ends = 0

  /** The uptime until which the server has asked to wait. */
  private var notBefore = 0L

  public val state: StateFlow<AccountState> = shown.asStateFlow()

  internal val hasRows: Boolean get() = folded != null

  init {
    val isWanted = shown.subscriptionCount.map { it > 0 }
    val isOn = combine(isWanted, isHidden()) { wanted, hidden -> wanted && !hidden }.distinctUntilChanged()
    scope.launch { isOn.collectLatest { if (it) attempts.collectLatest { follow() } else rest() } }
    scope.launch { followReturns() }
  }

  /** Begins another connection at once. */
  internal fun restart() {
    attempts.value += 1
  }

  /** Drops the rows, which may be another account's. */
  internal fun forget() {
    folded = null
    rest()
  }

  private fun rest() {
    if (error?.code != SIGNED_OUT) error = null
    isConnecting = true
    publish()
  }

  @OptIn(ExperimentalCoroutinesApi::class)
  private fun isHidden() = device.isVisible.transformLatest { isVisible ->
    emit(false)
    if (isVisible) return@transformLatest
    delay(HIDDEN_MS)
    emit(true)
  }

  /** Connects at once when the app is shown or has another network, but once a second: a network may flap. */
  private suspend fun followReturns() {
    val shows = device.isVisible.drop(1).filter { it }.map { false }
    val networks = device.network.drop(1).filterNotNull().map { true }
    merge(shows, networks).conflate().collect { isOtherNetwork ->
      val isOverdue = (lastEvent?.elapsedMs ?: 0) > options.heartbeat.inWholeMilliseconds + INSTANT_MS
      val isNew = !isFollowing && (attempt?.elapsedMs ?: INSTANT_MS) < INSTANT_MS
      if (isNew || (isFollowing && !isOtherNetwork && !isOverdue)) return@collect
      source.returned()
      restart()
      delay(INSTANT_MS)
    }
  }

  private suspend fun follow(): Unit = coroutineScope {
    launch {
      delay(CONNECTING_MS)
      isConnecting = false
      publish()
    }
    while (true) {
      publish()
      delay(notBefore - device.uptimeMillis())
      if (refusals >= UNREACHABLE_AFTER && polling?.isActive != true) polling = launch { poll() }
      val pauseMs = connect()
      publish()
      delay(pauseMs)
    }
  }

  /** Follows the list over one connection. Returns the pause before the next one. */
  private suspend fun connect(): Long = try {
    attempt = Stopwatch(device)
    val events = source.events { folded?.cursor.takeUnless { hasGap } }.withIndex()
    events.takeWhile { (index, event) -> fits(event, isFirst = index == 0) }.collect()
    backoff(ends++)
  } catch (_: TokenRenewed) {
    // A server that refuses each token right after its first event is not asked in a loop.
    if (isFollowing && (attempt?.elapsedMs ?: 0) < SHORT_LIFE_MS) backoff(losses++) else 0
  } catch (lost: ConnectionLost) {
    refusals = 0
    backoff(losses++, lost.floorSeconds)
  } catch (failure: TradingGraphException) {
    afterFailure(failure)
  } catch (cancelled: CancellationException) {
    throw cancelled
  } catch (thrown: Exception) {
    afterFailure(networkError("The connection failed: ${thrown.message}", thrown))
  } finally {
    attempt = null
    isFollowing = false
    isConnecting = false
  }

  private suspend fun afterFailure(failure: TradingGraphException): Long {
    error = failure
    // The source may have another token by the next connection.
    val mayPass = failure.retryable || failure.code in PASSING || (failure.code == UNAUTHENTICATED && ends == 0)
    if (!mayPass) {
      // An error that does not pass ends the list, until the app is signed in again.
      if (failure.code == SIGNED_OUT) folded = null
      isFollowing = false
      publish()
      awaitCancellation()
    }
    if (failure.code != NETWORK) return backoff(ends++, failure.retryAfterSeconds)
    refusals += 1
    return backoff(losses++)
  }

  private fun backoff(failures: Int, floorSeconds: Double = 0.0): Long {
    notBefore = device.uptimeMillis() + (floorSeconds * 1_000).toLong()
    return backoffMs(failures, random, floorSeconds)
  }

  /** Takes an event. False if one before it is missing. */
  private fun fits(event: JsonObject, isFirst: Boolean): Boolean {
    val mayApply = !hasGap || event.boolean("snapshot") == true
    val next = if (mayApply) folded.after(event, isFirst) else null
    hasGap = next == null
    folded = next ?: return false
    lastEvent = Stopwatch(device)
    if (!isFirst) ends = 0
    losses = 0
    refusals = 0
    polling?.cancel()
    isPolled = false
    isFollowing = true
    error = null
    publish()
    return true
  }

  /** What is polled has no cursor, so the next connection begins with a snapshot. */
  private suspend fun poll() = try {
    while (true) {
      try {
        folded = folded.after(source.polled() ?: break, isFirst = true)
        hasGap = true
        isPolled = true
      } catch (failure: TradingGraphException) {
        error = failure
        isPolled = false
      }
      publish()
      delay(POLL_MS)
    }
  } finally {
    isPolled = false
  }

  private fun publish() {
    val list = folded?.state
    val status = when {
      list != null && (isFollowing || isPolled) -> list.status
      list == null && isConnecting && error == null -> Status.CONNECTING
      else -> Status.OFFLINE
    }
    shown.value = (list ?: AccountState()).copy(status = status, error = error)
  }
}
