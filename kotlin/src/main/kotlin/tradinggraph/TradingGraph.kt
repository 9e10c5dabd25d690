package tradinggraph

import java.time.Instant
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import kotlin.random.Random
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.*
import kotlinx.serialization.json.JsonObject
import okhttp3.Call
import okhttp3.Dispatcher
import okhttp3.OkHttpClient
import okhttp3.WebSocket

/** What tests replace. */
internal class Platform(
  val calls: Call.Factory,
  val sockets: WebSocket.Factory,
  /** Closes idle connections. */
  val evict: () -> Unit,
  /** Whether it may send a request twice. */
  val resends: Boolean,
  // One thread at a time reads and writes the client's state.
  val dispatcher: CoroutineDispatcher = Dispatchers.Default.limitedParallelism(1),
  val random: Random = Random,
)

/** A client of one user. Make one for the app, next to its sign-in; [close] ends all that it does. */
public class TradingGraph internal constructor(
  url: String,
  token: TokenSource,
  storage: KeyStorage,
  private val device: Device,
  private val live: LiveOptions,
  private val onSignedOut: (TradingGraphException) -> Unit,
  private val platform: Platform,
) : AutoCloseable {
  /**
   * [token] is asked before each request. [http] is used without its repeats and redirects,
   * which could send an order twice.
   */
  public constructor(
    url: String,
    token: TokenSource,
    storage: KeyStorage,
    device: Device = AlwaysOn,
    live: LiveOptions = LiveOptions(),
    http: OkHttpClient = OkHttpClient(),
    onSignedOut: (TradingGraphException) -> Unit = {},
  ) : this(url, token, storage, device, live, onSignedOut, platformOf(http))

  private val scope = CoroutineScope(platform.dispatcher + SupervisorJob())
  private val clock = ServerClock(device)
  private val tokens = Tokens(scope, device, { force -> token(force) }, ::signedOut)
  private val requests = Requests(scope, Http(platform, url, device, clock), tokens, device, platform.random)
  private val source = AccountSource(Socket(platform, url, device, live.heartbeat.inWholeMilliseconds))

  /** The account, live. */
  public val account: LiveAccount = LiveAccount(scope, source, device, live, platform.random)

  /** The user's orders. */
  public val orders: Orders = Orders(OrderContext(scope, requests, tokens, clock, device, storage, platform))

  /** A query. It is sent again after errors that pass, within half a minute. */
  public suspend fun query(text: String, variables: JsonObject = NOTHING): Answer = request(Outgoing(text, variables))

  /** A query with `@defer`: each state of its answer. */
  public fun parts(text: String, variables: JsonObject = NOTHING): Flow<Answer> = channelFlow {
    var last: Answer? = null
    val answer = request(Outgoing(text, variables, onPart = { part -> last = part.also(::trySend) }))
    if (answer != last) send(answer)
  }.buffer(Channel.UNLIMITED)

  /** A mutation. It is sent once more only if its token was refused. With [anonymous] it goes without a token. */
  public suspend fun mutate(text: String, variables: JsonObject = NOTHING, anonymous: Boolean = false): Answer =
    request(Outgoing(text, variables, isMutation = true, isAnonymous = anonymous))

  /** A token by the service's `login`. Throws a [TradingGraphException]: `SIGNED_OUT`, with the server's reason, if it refuses the two. */
  public suspend fun signIn(email: String, password: String): String {
    val answer = mutate(LOGIN, jsonOf("input" to jsonOf("email" to email, "password" to password)), anonymous = true)
    val login = answer.data.field("login") ?: throw answer.errors.firstOrNull() ?: protocolError("The answer has no sign-in.")
    return login.text("accessToken") ?: throw signedOut("The sign-in was refused: ${login.text("message") ?: login.text("error")}")
  }

  /** To be called after each sign-in and sign-out, since another account may be signed in. */
  public suspend fun tokenChanged(): Unit = withContext(platform.dispatcher) {
    tokens.changed()
    val token = runCatching { tokens.get() }.getOrNull()
    if (token == null || token != source.token) account.restart()
  }

  override fun close(): Unit = scope.cancel()

  private suspend fun request(outgoing: Outgoing) = withContext(platform.dispatcher) { requests.send(outgoing) }

  private fun signedOut(error: TradingGraphException) {
    account.restart()
    scope.launch { onSignedOut(error) }
  }

  private inner class AccountSource(private val socket: Socket) : LiveSource {
    /** The token of the last connection, and the login of its account. */
    var token: String? = null
      private set
    private var login: String? = null

    override fun events(after: () -> String?): Flow<JsonObject> = flow {
      val token = tokens.get()
      try {
        noteAccount(token)
        val (interval, heartbeat) = live.interval?.inWholeMilliseconds to live.heartbeat.inWholeSeconds
        val variables = jsonOf("after" to after(), "intervalMs" to interval, "heartbeatSeconds" to heartbeat)
        socket.events(jsonOf("query" to live.subscription, "variables" to variables), token).collect { data ->
          tokens.accepted(token)
          emit(data.field("accountChanges") as? JsonObject ?: throw protocolError("The event has no changes."))
        }
      } catch (error: TradingGraphException) {
        if (error.code != UNAUTHENTICATED) throw error
        tokens.renewed(token)
        throw TokenRenewed()
      }
    }

    /** Rows are continued with a token of their own account alone. */
    private suspend fun noteAccount(token: String) {
      if (token == this.token) return
      if (account.hasRows) {
        val present = requests.loginOf(token)
        if (present != login) account.forget()
        login = present
      } else {
        scope.launch { login = runCatching { requests.loginOf(token) }.getOrNull() }
      }
      this.token = token
    }

    override suspend fun polled(): JsonObject {
      val askedAt = Instant.ofEpochMilli(clock.now ?: device.wallMillis())
      val present = requests.login()
      val answer = requests.send(Outgoing(live.query, repeats = false, login = present, timeoutMs = POLL_MS))
      val data = answer.data ?: throw answer.errors.first()
      // The rows are this account's: the next connection goes on with them.
      login = present
      return snapshotOf(data, askedAt)
    }

    override fun returned() = tokens.returned()
  }

  private companion object {
    const val POLL_MS = 10_000L
    const val LOGIN = "mutation SignIn(\$input: LoginInput!) { login(input: \$input) { " +
      "... on LoginSuccess { accessToken } ... on Refusal { error message } } }"

    fun platformOf(http: OkHttpClient): Platform {
      // Daemons, or an idle thread would keep a program running for a minute.
      val threads = Dispatcher(Executors.newCachedThreadPool { Thread(it, "trading-graph").apply { isDaemon = true } })
      val own = http.newBuilder().dispatcher(threads).retryOnConnectionFailure(false).followRedirects(false).followSslRedirects(false)
        // This client has deadlines of its own, and an order may take longer than OkHttp's.
        .readTimeout(0, TimeUnit.MILLISECONDS).callTimeout(0, TimeUnit.MILLISECONDS).build()
      // An interceptor of the app may repeat a request.
      val resends = own.interceptors.isNotEmpty() || own.networkInterceptors.isNotEmpty()
      return Platform(own, own, own.connectionPool::evictAll, resends)
    }
  }
}
