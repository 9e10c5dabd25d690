// This file was compiled with stand-ins for Apollo's and Android's libraries, never with the libraries (examples/README.md).
package com.example.trading

import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import android.os.SystemClock
import android.util.AtomicFile
import com.apollographql.apollo.ApolloCall
import com.apollographql.apollo.ApolloClient
import com.apollographql.apollo.api.ApolloResponse
import com.apollographql.apollo.api.Error
import com.apollographql.apollo.api.Operation
import com.apollographql.apollo.api.Optional
import com.apollographql.apollo.api.http.valueOf
import com.apollographql.apollo.exception.ApolloException
import com.apollographql.apollo.exception.ApolloWebSocketClosedException
import com.apollographql.apollo.exception.DefaultApolloException
import com.apollographql.apollo.network.http.DefaultHttpEngine
import com.apollographql.apollo.network.http.HttpInfo
import com.apollographql.apollo.network.websocket.GraphQLWsProtocol
import com.apollographql.apollo.network.websocket.WebSocketNetworkTransport
import com.apollographql.apollo.network.websocket.closeConnection
import com.example.api.AccountSubscription
import com.example.api.HomeQuery
import com.example.api.PlaceMutation
import com.example.api.SignInMutation
import com.example.api.VoidMutation
import com.example.api.fragment.Figures
import com.example.api.fragment.OrderRow
import com.example.api.fragment.Outcome
import com.example.api.fragment.PositionRow
import com.example.api.type.FeedStatus
import com.example.api.type.LoginInput
import com.example.api.type.OrderSize
import com.example.api.type.PlaceOrderInput
import com.example.api.type.PlaceOrderKind
import com.example.api.type.Side
import com.example.api.type.UnsentReason
import java.io.File
import java.time.Instant
import java.time.ZonedDateTime
import java.time.format.DateTimeFormatter
import java.util.UUID
import kotlin.random.Random
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.FlowPreview
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.timeout
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withTimeoutOrNull
import org.json.JSONObject

/** The parts of an app that share a session. `store` keeps the account, encrypted by a key of the phone's keystore. */
class TradingGraph(context: Context, url: String, store: AccountStore) {
  val session = Session(url, store)
  val account = LiveAccount(session)
  private val network = NetworkState(context, account::networkIsBack)
  val orders = Orders(session, network, CoroutineScope(SupervisorJob() + Dispatchers.IO), context)

  init {
    session.onAccount = account::accountChanged
  }

  /** The first screen in one query. A field that has failed is null; the others have their data. */
  suspend fun home(): HomeQuery.Data = session.ask(session.client.query(HomeQuery()), partial = true)
}

/** Orders check `isOnline` before they are sent. */
class NetworkState(context: Context, private val onReturn: () -> Unit) : ConnectivityManager.NetworkCallback() {
  private val manager = context.getSystemService(ConnectivityManager::class.java)
  val isOnline get() = manager.activeNetwork != null

  init {
    manager.registerDefaultNetworkCallback(this)
  }

  override fun onAvailable(network: Network) = onReturn()
}

/** The account that is signed in. */
data class Account(val email: String, val token: String)

interface AccountStore {
  /** Null if no user is signed in. */
  fun read(): Account?
  fun write(account: Account?)
}

/** Keeps the account with its token, and sends requests with it. */
class Session(url: String, private val store: AccountStore) {
  private val mutex = Mutex()
  @Volatile
  var account = store.read()
    private set
  /** The password is kept in memory only. After a restart the sign-in form is shown again when the token ends. */
  private var password: String? = null
  /** Called after a sign-in or sign-out: live data must be that of the new account. */
  var onAccount: () -> Unit = {}
  /** How far the server's clock is ahead of this device's uptime; null before the first answer. */
  @Volatile
  private var serverAheadMs: Long? = null

  val client = ApolloClient.Builder()
    .serverUrl(url)
    .httpEngine(DefaultHttpEngine(timeoutMillis = 10_000))
    .subscriptionNetworkTransport(
      // OkHttp compresses its sockets, and reports the close code.
      WebSocketNetworkTransport.Builder()
        .serverUrl(url)
        .wsProtocol(GraphQLWsProtocol { mapOf("authorization" to "Bearer ${account?.token}") })
        .build()
    )
    .build()

  /** Throws `SignedOut` with the server's message if the sign-in is refused. */
  suspend fun signIn(email: String, password: String) = mutex.withLock { logIn(email, password) }

  suspend fun signOut() = mutex.withLock { end("signed out", account?.token) }

  /** The account with its token. If that token was refused, it is renewed once for all callers. */
  suspend fun account(refused: String?): Account = mutex.withLock {
    val known = account ?: throw SignedOut("nobody is signed in")
    if (known.token != refused) return@withLock known
    try {
      logIn(known.email, password ?: throw SignedOut("the token has ended"))
    } catch (signedOut: SignedOut) {
      throw end(signedOut.message, refused)
    }
  }

  /** Signs the user out, because the renewed token is refused too. Returns the error to throw. */
  suspend fun giveUp(token: String): SignedOut = mutex.withLock { end("the renewed token is refused", token) }

  /** Sends a request with the token, and renews a refused token once. With `email` it is sent only for that account. */
  suspend fun <D : Operation.Data> ask(call: ApolloCall<D>, partial: Boolean = false, email: String? = null): D {
    var refused: String? = null
    while (true) {
      val sender = account(refused)
      if (email != null && email != sender.email) throw SignedOut("another account is signed in")
      try {
        val answer = call.copy().addHttpHeader("authorization", "Bearer ${sender.token}").execute()
        return noteDate(answer).dataOrRefused(partial)
      } catch (refusal: Refused) {
        if (!refusal.isOfToken) throw refusal
        if (refused != null) throw giveUp(sender.token)
        refused = sender.token
      }
    }
  }

  /**
   * The server's time: the last `Date` plus the uptime since then, because users change clocks. The result is at most two
   * seconds behind.
   */
  suspend fun serverTime(): Instant {
    if (serverAheadMs == null) ask(client.query(HomeQuery()), partial = true)
    val aheadMs = serverAheadMs ?: throw DefaultApolloException("an answer without a date")
    return Instant.ofEpochMilli(SystemClock.elapsedRealtime() + aheadMs)
  }

  /** Closes the socket, so that the next subscription opens a new one. */
  fun dropConnection(why: String) = client.subscriptionNetworkTransport.closeConnection(DefaultApolloException(why))

  private suspend fun logIn(email: String, password: String): Account {
    val call = client.mutation(SignInMutation(LoginInput(email = email, password = password)))
    val answer = noteDate(call.execute()).dataOrRefused().login
    val token = answer?.onLoginSuccess?.accessToken ?: throw SignedOut(answer?.onRefusal?.message ?: "refused")
    val signedIn = Account(email, token)
    store.write(signedIn)
    val isAnother = account?.email != email
    account = signedIn
    this.password = password
    if (isAnother) onAccount()
    return signedIn
  }

  /** Signs the user out, unless another token has replaced this one. Orders stay on the disk. Returns the error to throw. */
  private fun end(why: String?, token: String?): SignedOut {
    if (account?.token == token) {
      account = null
      password = null
      store.write(null)
      onAccount()
    }
    return SignedOut(why)
  }

  private fun <D : Operation.Data> noteDate(answer: ApolloResponse<D>): ApolloResponse<D> {
    val date = answer.executionContext[HttpInfo]?.headers?.valueOf("date") ?: return answer
    val serverTime = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant()
    serverAheadMs = serverTime.toEpochMilli() - SystemClock.elapsedRealtime()
    return answer
  }
}

/** The account: a snapshot, and all changes since. */
data class AccountState(
  val positions: Map<String, PositionRow> = emptyMap(),
  val orders: Map<String, OrderRow> = emptyMap(),
  val figures: Figures? = null,
  /** Null while there is no connection. */
  val status: FeedStatus? = null,
  /** Show it next to the list if the status is not `LIVE`. */
  val asOf: String? = null,
) {
  fun fold(event: AccountSubscription.AccountChanges): AccountState {
    val known = if (event.snapshot) AccountState(figures = figures) else this
    return AccountState(
      positions = known.positions - event.positions.closed.toSet() +
        event.positions.upserted.map { it.positionRow }.associateBy { it.id } +
        event.positions.ticks.mapNotNull { known.positions[it.id]?.copy(profit = it.profit) }.associateBy { it.id },
      orders = known.orders - event.orders?.closed.orEmpty().toSet() +
        event.orders?.upserted.orEmpty().map { it.orderRow }.associateBy { it.id },
      figures = event.session?.figures ?: known.figures,
      status = event.status,
      asOf = event.asOf,
    )
  }
}

class LiveAccount(private val session: Session) {
  private val shown = MutableStateFlow(AccountState())
  val state: StateFlow<AccountState> = shown.asStateFlow()
  /** Gets a value when a pause is to end at once. */
  private val wakeUps = Channel<Unit>(Channel.CONFLATED)
  @Volatile
  private var email: String? = null
  private var cursor: String? = null

  /** Follows the account. Throws when no user is signed in, or the server's error is permanent. */
  @OptIn(FlowPreview::class)
  suspend fun follow() {
    var refused: String? = null
    var failures = 0
    while (true) {
      var token: String? = null
      var isRefused = false
      var leastMs = 0L
      try {
        val account = session.account(refused)
        token = account.token
        begin(account.email)
        session.client.subscription(AccountSubscription(after = Optional.presentIfNotNull(cursor))).toFlow()
          // Heartbeats come every 15 s. After 25 s without an event the connection is dead, even if no error was reported.
          .timeout(25.seconds)
          .collect { answer ->
            val event = answer.dataOrRefused(partial = true).accountChanges
            shown.update { it.fold(event) }
            cursor = event.cursor
            failures = 0
            refused = null
          }
      } catch (silent: TimeoutCancellationException) {
        networkIsBack()
      } catch (failure: ApolloException) {
        isRefused = failure is ApolloWebSocketClosedException && failure.code in TOKEN_REFUSED
      } catch (refusal: Refused) {
        isRefused = refusal.isOfToken
        if (!isRefused && !refusal.isRetryable) throw refusal
        leastMs = refusal.retryAfterMs
      }
      if (isRefused && token != null) {
        if (refused != null) throw session.giveUp(token)
        refused = token
        wakeUps.trySend(Unit)
      }
      // The server has not refused the new token. If it does so later, that token may be renewed too.
      if (token != null && token != refused) refused = null
      shown.update { it.copy(status = null) }
      withTimeoutOrNull(leastMs + pauseMs(failures, 30_000)) { wakeUps.receive() }
      failures += 1
    }
  }

  /** Called if the network is back or has changed: opens a new connection in place of the old one. */
  fun networkIsBack() {
    wakeUps.trySend(Unit)
    session.dropConnection("the connection is replaced")
  }

  /** Called after a sign-in or sign-out. Apollo keeps a socket for a minute; the next user must not get this socket. */
  fun accountChanged() {
    begin(null)
    networkIsBack()
  }

  /** Forgets the list and the cursor of another account. */
  private fun begin(next: String?) {
    if (next == email) return
    email = next
    cursor = null
    shown.value = AccountState()
  }

  private companion object {
    val TOKEN_REFUSED = setOf(4401, 4403)
  }
}

/** The reasons that prove that no request with the key was carried out. A server may add reasons that do not prove this. */
private val PROOFS = setOf(UnsentReason.VOIDED, UnsentReason.SETTLED)

/** Orders, each kept on disk under its key from before it is sent until its outcome is known. */
class Orders(
  private val session: Session,
  private val network: NetworkState,
  private val scope: CoroutineScope,
  context: Context,
) {
  private class Kept(val account: String, val key: String, val since: String)

  private val folder = File(context.filesDir, "orders").apply { mkdirs() }

  /** Call it once for a tap. Null: the server's records do not reach back to this order, so its outcome is unknown. */
  suspend fun place(symbol: String, side: Side, units: Double): Outcome? {
    if (!network.isOnline) throw Offline()
    val account = session.account(null)
    val since = session.serverTime()
    val sendBefore = since.plusSeconds(30)
    val kept = Kept(account.email, UUID.randomUUID().toString(), since.toString())
    val input = PlaceOrderInput(
      symbol = symbol, side = side, kind = Optional.present(PlaceOrderKind.MARKET),
      size = OrderSize(units = Optional.present(units)),
      idempotencyKey = kept.key, sendBefore = Optional.present(sendBefore.toString()),
      keyMade = Optional.present(kept.since))
    keep(kept)
    // The order continues even if the screen is closed.
    return scope.async { settle(kept, input, sendBefore) }.await()
  }

  /**
   * Finds the outcome of orders from before the app ended, which are not sent again. Call it at the start of the app and
   * after a sign-in. The next start asks again about an order whose request was refused.
   */
  suspend fun resume(): List<Outcome?> {
    val outcomes = mutableListOf<Outcome?>()
    for (file in folder.listFiles { file -> file.extension == "json" }.orEmpty()) {
      val json = JSONObject(file.readText())
      val kept = Kept(json.getString("account"), json.getString("key"), json.getString("since"))
      // A key belongs to its account: with another account's token the server would answer that nothing was sent.
      if (kept.account != session.account?.email) continue
      try {
        outcomes += close(kept)
      } catch (refused: Refused) {
        continue
      }
    }
    return outcomes
  }

  /** Sends the order, and repeats it under its key until `sendBefore`. Then voids its key. */
  private suspend fun settle(kept: Kept, input: PlaceOrderInput, sendBefore: Instant): Outcome? {
    var refusal: Refused? = null
    var failures = 0
    while (session.serverTime() < sendBefore) {
      var leastMs = 0L
      try {
        val outcome = session.ask(session.client.mutation(PlaceMutation(input)), email = kept.account).placeOrder?.outcome
        // This answer says nothing about earlier requests, such as one that a proxy has sent twice. So the key is voided.
        if (outcome?.onOrderRejected?.sent == false) break
        if (outcome != null) return end(kept, outcome)
      } catch (lost: ApolloException) {
        // Without an answer it is unknown whether the order was sent.
        refusal = null
      } catch (refused: Refused) {
        refusal = refused
        if (!refused.isRetryable) break
        leastMs = refused.retryAfterMs
      }
      delay(leastMs + pauseMs(failures++, 4_000))
    }
    val outcome = close(kept)
    // The order was certainly not placed: reports the server's reason.
    if (refusal != null && outcome?.onOrderRejected?.sent == false) throw refusal
    return outcome
  }

  /** Voids the key: returns the outcome if the order was placed. Otherwise ensures that the order is never placed. */
  private suspend fun close(kept: Kept): Outcome? {
    var failures = 0
    while (true) {
      var leastMs = 0L
      try {
        val outcome = voided(kept.key, kept)
        // Other reasons do not prove that nothing was carried out: the server may have lost the order's record. So this
        // voids another key of the same age, which throws if the records do not reach back that far.
        val rejected = outcome?.onOrderRejected
        if (rejected?.sent == false && rejected.reason !in PROOFS) voided(UUID.randomUUID().toString(), kept)
        if (outcome != null) return end(kept, outcome)
      } catch (lost: ApolloException) {
        // The server was not reached: tries again after a pause.
      } catch (refused: Refused) {
        if (refused.code == "IDEMPOTENCY_UNAVAILABLE" && !refused.isRetryable && !refused.isLimit) {
          file(kept).delete()
          return null
        }
        if (!refused.isRetryable) throw refused
        leastMs = refused.retryAfterMs
      }
      delay(leastMs + pauseMs(failures++, 4_000))
    }
  }

  private suspend fun voided(key: String, kept: Kept): Outcome? =
    session.ask(session.client.mutation(VoidMutation(key, Optional.present(kept.since))), email = kept.account).voidOrder?.outcome

  /** An unknown order stays on the disk, so that the next start asks again. */
  private fun end(kept: Kept, outcome: Outcome): Outcome {
    if (outcome.onOrderOutcomeUnknown == null) file(kept).delete()
    return outcome
  }

  /** Writes the file completely before it returns, or throws. */
  private fun keep(kept: Kept) {
    val json = JSONObject().put("account", kept.account).put("key", kept.key).put("since", kept.since)
    val file = AtomicFile(file(kept))
    val stream = file.startWrite()
    stream.write(json.toString().toByteArray())
    file.finishWrite(stream)
  }

  private fun file(kept: Kept) = File(folder, "${kept.key}.json")
}

/** The first error of an answer, with the server's code, and whether the same request may succeed later. */
class Refused(error: Error) : Exception(error.message) {
  val code = error.extensions?.get("code")
  val isRetryable = error.extensions?.get("retryable") == true
  val retryAfterMs = 1_000 * ((error.extensions?.get("retryAfter") as? Number)?.toLong() ?: 0)

  /** Whether the account has used up a limit of orders or keys. */
  val isLimit = error.extensions?.get("limit") != null

  val isOfToken get() = code == "UNAUTHENTICATED"
}

/** No user is signed in: show the sign-in form. */
class SignedOut(why: String?) : Exception(why)

/** There is no network: the order was not placed, and is not sent later. */
class Offline : Exception("no network")

/** With `partial` an answer may lack fields that failed. Without it any error is thrown. */
fun <D : Operation.Data> ApolloResponse<D>.dataOrRefused(partial: Boolean = false): D {
  exception?.let { throw it }
  val refusals = errors.orEmpty().map(::Refused)
  refusals.firstOrNull { it.isOfToken }?.let { throw it }
  val data = data
  if (data != null && (refusals.isEmpty() || partial)) return data
  throw refusals.firstOrNull() ?: DefaultApolloException("an answer with neither data nor errors")
}

/** A pause of up to 1, 2, 4 … seconds, and of at least half of that. */
fun pauseMs(failures: Int, longest: Long): Long {
  val ceiling = minOf(longest, 1_000L shl minOf(failures, 10))
  return Random.nextLong(ceiling / 2, ceiling)
}
