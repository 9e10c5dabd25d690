import android.content.Context
import android.net.ConnectivityManager
import android.net.Network
import android.os.SystemClock
import android.util.AtomicFile
import com.apollographql.apollo.ApolloClient
import com.apollographql.apollo.annotations.ApolloExperimental
import com.apollographql.apollo.api.Error
import com.apollographql.apollo.api.Mutation
import com.apollographql.apollo.api.Optional
import com.apollographql.apollo.exception.ApolloException
import com.apollographql.apollo.exception.ApolloWebSocketClosedException
import com.apollographql.apollo.exception.DefaultApolloException
import com.apollographql.apollo.network.http.DefaultHttpEngine
import com.apollographql.apollo.network.http.HttpInfo
import com.apollographql.apollo.network.websocket.GraphQLWsProtocol
import com.apollographql.apollo.network.websocket.WebSocketNetworkTransport
import com.apollographql.apollo.network.websocket.closeConnection
import com.example.api.*
import com.example.api.fragment.Outcome
import com.example.api.type.*
import java.io.File
import java.time.Instant
import java.time.ZonedDateTime
import java.time.format.DateTimeFormatter
import java.util.UUID
import kotlin.random.Random
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.FlowPreview
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.timeout
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withTimeoutOrNull
import org.json.JSONObject

// The first error of an answer: the server says what it is, and whether the same request may succeed later.
class Refused(error: Error) : Exception(error.message) {
  val code = error.extensions?.get("code")
  val isRetryable = error.extensions?.get("retryable") == true
  val retryAfterMs = 1_000 * ((error.extensions?.get("retryAfter") as? Number)?.toLong() ?: 0)
}

// Nobody is signed in: show the form of the sign-in.
class SignedOut(why: String) : Exception(why)

// There is no network: the order was not placed, and does not go out when the network is back.
class Offline : Exception("no network")

// 1, 2, 4 … seconds, and with jitter.
fun pauseMs(failures: Int, longest: Long): Long {
  val ceiling = minOf(longest, 1_000L shl minOf(failures, 10))
  return Random.nextLong(ceiling / 2, ceiling)
}

// The token, and requests with it.
class Session(val email: String, private val password: String) {
  private val mutex = Mutex()
  private var token: String? = null
  private var end: SignedOut? = null
  private var serverAheadMs = 0L

  @OptIn(ApolloExperimental::class)
  val client = ApolloClient.Builder()
    .serverUrl("https://example.com/graphql")
    .httpEngine(DefaultHttpEngine(timeoutMillis = 10_000))
    .subscriptionNetworkTransport(
      WebSocketNetworkTransport.Builder()
        .serverUrl("wss://example.com/graphql")
        // Fetched before: what this throws nobody would catch.
        .wsProtocol(GraphQLWsProtocol { mapOf("authorization" to "Bearer $token") })
        .build()
    )
    .build()

  // The token, or another one than that which was refused: fetched once for all that wait for it.
  suspend fun token(refused: String?): String = mutex.withLock {
    end?.let { throw it }
    val kept = token
    if (kept != null && kept != refused) kept else signIn().also { token = it }
  }

  // Where the renewed token is refused too nobody tries a third.
  fun end(why: String): SignedOut = SignedOut(why).also { end = it }

  // An answer to a request with the token; a refused token is renewed once.
  suspend fun <D : Mutation.Data> ask(mutation: Mutation<D>): D {
    val sent = token(null)
    try {
      return send(mutation, sent)
    } catch (refused: Refused) {
      if (refused.code != "UNAUTHENTICATED") throw refused
    }
    try {
      return send(mutation, token(sent))
    } catch (refused: Refused) {
      throw if (refused.code == "UNAUTHENTICATED") end("the renewed token is refused") else refused
    }
  }

  // The server's time by the last `Date` and this device's uptime, which nobody sets; a second behind at most.
  fun serverTime(): Instant = Instant.ofEpochMilli(SystemClock.elapsedRealtime() + serverAheadMs)

  private suspend fun signIn(): String {
    val answer = send(SignInMutation(LoginInput(email = email, password = password)), null)
    return answer.login?.onLoginSuccess?.accessToken ?: throw end(answer.login?.onRefusal?.message ?: "refused")
  }

  private suspend fun <D : Mutation.Data> send(mutation: Mutation<D>, token: String?): D {
    val call = client.mutation(mutation)
    if (token != null) call.addHttpHeader("authorization", "Bearer $token")
    val answer = call.execute()
    answer.exception?.let { throw it }
    val date = answer.executionContext[HttpInfo]?.headers?.firstOrNull { it.name.equals("date", ignoreCase = true) }
    if (date != null) {
      val at = ZonedDateTime.parse(date.value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant()
      serverAheadMs = at.toEpochMilli() - SystemClock.elapsedRealtime()
    }
    answer.errors?.firstOrNull()?.let { throw Refused(it) }
    return answer.data ?: throw DefaultApolloException("an answer with neither data nor errors")
  }
}

// The positions by id, from a snapshot and then from what changed.
class LivePositions(private val session: Session) {
  private val rows = LinkedHashMap<String, LiveSubscription.Upserted>()
  private val back = Channel<Unit>(Channel.CONFLATED)
  private var cursor: String? = null

  // Shown beside the list whenever the status is not LIVE.
  var asOf: String? = null
    private set

  // Follows until nobody is signed in, or the server says that it is no use to ask again: then it throws.
  @OptIn(FlowPreview::class)
  suspend fun follow() {
    var refused: String? = null
    var failures = 0
    while (true) {
      var token: String? = null
      var leastMs = 0L
      try {
        token = session.token(refused)
        session.client.subscription(LiveSubscription(after = Optional.presentIfNotNull(cursor))).toFlow()
          // The heartbeat and ten seconds without an event: then the line is dead, though nobody says so.
          .timeout(25.seconds)
          .collect { answer ->
            answer.exception?.let { throw it }
            answer.errors?.firstOrNull()?.let { throw Refused(it) }
            answer.data?.let { fold(it.positionChanges) }
            failures = 0
            refused = null
          }
      } catch (silent: TimeoutCancellationException) {
        dropLine("silence")
        if (failures == 0) back.trySend(Unit)
      } catch (failure: ApolloException) {
        if (failure is ApolloWebSocketClosedException && failure.code == 4403) {
          if (refused != null) throw session.end("the renewed token is refused")
          refused = token
          back.trySend(Unit)
        }
      } catch (refusal: Refused) {
        if (!refusal.isRetryable) throw refusal
        leastMs = refusal.retryAfterMs
      }
      withTimeoutOrNull(leastMs + pauseMs(failures, 30_000)) { back.receive() }
      failures += 1
    }
  }

  // Called where the platform knows of a network that is back, or another: the old line is left to die.
  fun networkIsBack() {
    back.trySend(Unit)
    dropLine("another network")
  }

  @OptIn(ApolloExperimental::class)
  private fun dropLine(why: String) =
    session.client.subscriptionNetworkTransport.closeConnection(DefaultApolloException(why))

  private fun fold(event: LiveSubscription.PositionChanges) {
    if (event.snapshot) rows.clear()
    event.closed.forEach { rows.remove(it) }
    event.upserted.forEach { rows[it.id] = it }
    cursor = event.cursor
    asOf = event.asOf
  }
}

// Orders ask `isOnline` before they leave.
class NetworkState(context: Context, private val positions: LivePositions) : ConnectivityManager.NetworkCallback() {
  private val manager = context.getSystemService(ConnectivityManager::class.java)
  val isOnline get() = manager.activeNetwork != null

  fun start() = manager.registerDefaultNetworkCallback(this)
  override fun onAvailable(network: Network) = positions.networkIsBack()
}

// Orders, each kept on disk under its key from before it is sent until its outcome is known.
class Orders(private val session: Session, private val network: NetworkState, context: Context) {
  private val folder = File(context.filesDir, "orders").apply { mkdirs() }

  // Null: the server's records do not reach back to it, so nobody knows.
  suspend fun place(symbol: String, side: Side, units: Double): Outcome? {
    if (!network.isOnline) throw Offline()
    session.token(null) // No order is kept that nobody could send, and the answer tells the server's time.
    val since = session.serverTime()
    val before = since.plusSeconds(30)
    val key = UUID.randomUUID().toString()
    val input = PlaceOrderInput(
      symbol = symbol, side = side, kind = Optional.present(PlaceOrderKind.MARKET), size = OrderSize(units = Optional.present(units)),
      idempotencyKey = key, sendBefore = Optional.present(before.toString()))
    keep(key, since)
    var isInDoubt = false
    var failures = 0
    while (session.serverTime() < before) {
      var leastMs = 0L
      try {
        val outcome = session.ask(PlaceMutation(input)).placeOrder?.outcome
        // A repeat that came too late says nothing of the requests before it: closing the key does.
        if (isInDoubt && outcome?.onOrderRejected?.sent == false) break
        if (outcome != null) return end(key, outcome)
      } catch (lost: ApolloException) {
        isInDoubt = true
      } catch (refused: Refused) {
        if (!refused.isRetryable && !isInDoubt) file(key).delete()
        if (!refused.isRetryable && !isInDoubt) throw refused
        if (!refused.isRetryable) break
        leastMs = refused.retryAfterMs
      }
      delay(leastMs + pauseMs(failures++, 4_000))
    }
    return close(key, since.toString())
  }

  // At the start of the app: ends the doubt about orders of an earlier run, which are not sent again.
  suspend fun resume(): List<Outcome?> = folder.listFiles { file -> file.extension == "json" }.orEmpty().toList().mapNotNull {
    val kept = JSONObject(it.readText())
    // A key is one account's: for another it would be unused, and the answer that nothing was sent.
    if (kept.getString("account") == session.email) close(kept.getString("key"), kept.getString("since")) else null
  }

  // Ends the doubt: its outcome where it was placed, else it never is.
  private suspend fun close(key: String, since: String): Outcome? {
    var failures = 0
    while (true) {
      var leastMs = 0L
      try {
        val outcome = session.ask(VoidMutation(key, Optional.present(since))).voidOrder?.outcome
        if (outcome != null) return end(key, outcome)
      } catch (lost: ApolloException) {
        // Nobody was asked: again after a pause.
      } catch (refused: Refused) {
        if (!refused.isRetryable && refused.code != "IDEMPOTENCY_UNAVAILABLE") throw refused
        if (!refused.isRetryable) file(key).delete()
        if (!refused.isRetryable) return null
        leastMs = refused.retryAfterMs
      }
      delay(leastMs + pauseMs(failures++, 4_000))
    }
  }

  // The next run asks again for one that is unknown.
  private fun end(key: String, outcome: Outcome): Outcome {
    if (outcome.onOrderOutcomeUnknown == null) file(key).delete()
    return outcome
  }

  // On the disk when this returns, whole or not at all.
  private fun keep(key: String, since: Instant) {
    val kept = JSONObject().put("account", session.email).put("key", key).put("since", since.toString())
    val file = AtomicFile(file(key))
    val stream = file.startWrite()
    stream.write(kept.toString().toByteArray())
    file.finishWrite(stream)
  }

  private fun file(key: String) = File(folder, "$key.json")
}
