package tradinggraph

import kotlin.random.Random
import kotlinx.coroutines.*
import kotlinx.serialization.json.*

private const val MAX_REPEATS = 4
private const val MAX_FLOOR_SECONDS = 30.0
private const val LOGIN_MS = 10_000L

/** An operation, and how it is sent. */
internal class Outgoing(
  val text: String,
  val variables: JsonObject = NOTHING,
  val isMutation: Boolean = false,
  /** Whether it may be sent again: everything once after a refused token, a query also after an error that passes. */
  val repeats: Boolean = true,
  val isAnonymous: Boolean = false,
  /** The account whose request it is; null: the present one. */
  val login: String? = null,
  // Longer than the server's own deadline of an order.
  val timeoutMs: Long = if (isMutation) 60_000 else 30_000,
  val onPart: ((Answer) -> Unit)? = null,
  /** Called right before the request leaves. What it throws keeps the request here. */
  val leaving: () -> Unit = {},
)

/** Requests with the app's token. A refused token is renewed once, queries are repeated. */
internal class Requests(
  private val scope: CoroutineScope,
  private val http: Http,
  private val tokens: Tokens,
  private val device: Device,
  private val random: Random,
) {
  private var known: Pair<String, Deferred<String>>? = null

  /** What fails is in the answer: only cancellation is thrown. */
  suspend fun send(request: Outgoing): Answer = withTimeoutOrNull(request.timeoutMs) {
    var answer = attempt(request)
    for (failures in 0 until MAX_REPEATS) {
      delay(pauseAfter(request, answer, failures) ?: break)
      answer = attempt(request)
    }
    answer
  } ?: Answer(null, listOf(lateError()))

  /** The login of the token's account, by the server's word: what a token says of itself is not verified here. */
  suspend fun loginOf(token: String): String {
    val asked = known?.takeIf { (of, login) -> of == token && !login.isCancelled } ?: (token to scope.async { askLogin(token) })
    known = asked
    return asked.second.await()
  }

  /** The login that is signed in. */
  suspend fun login(): String {
    val token = tokens.get()
    return try {
      loginOf(token)
    } catch (error: TradingGraphException) {
      if (error.code != UNAUTHENTICATED) throw error
      loginOf(tokens.renewed(token))
    }
  }

  private suspend fun askLogin(token: String): String {
    val answer = exchange(Outgoing("query TradingGraphAccount { session { login } }", repeats = false, timeoutMs = LOGIN_MS), token)
    val login = answer.data.field("session").text("login")
    if (login != null) tokens.accepted(token)
    return login ?: throw answer.errors.firstOrNull() ?: protocolError("The server does not name the account.")
  }

  /** Null if the answer stands. */
  private fun pauseAfter(request: Outgoing, answer: Answer, failures: Int): Long? {
    val passes = answer.errors.isNotEmpty() && answer.errors.all { it.retryable } && answer.data.orEmpty().values.all { it is JsonNull }
    val floor = answer.errors.maxOfOrNull { it.retryAfterSeconds } ?: 0.0
    // The caller needs the error now rather than after minutes.
    val isRepeated = request.repeats && !request.isMutation && passes && floor <= MAX_FLOOR_SECONDS
    return if (isRepeated) backoffMs(failures, random, floor) else null
  }

  private suspend fun attempt(request: Outgoing): Answer = try {
    if (!request.isMutation && device.network.value == null) throw offline()
    if (request.isAnonymous) exchange(request, null) else withToken(request)
  } catch (error: TradingGraphException) {
    Answer(null, listOf(error))
  }

  private suspend fun withToken(request: Outgoing): Answer {
    val signIn = tokens.signIn
    val token = tokens.get()
    val answer = exchangeAs(request, token, signIn)
    val isRefused = answer.errors.any { it.code == UNAUTHENTICATED }
    if (!isRefused && answer.data != null) tokens.accepted(token)
    if (isRefused && !(request.repeats && answer.isWhollyRefused)) scope.launch { runCatching { tokens.renewed(token) } }
    if (!request.repeats || !answer.isWhollyRefused) return answer
    val login = known?.takeIf { (of, login) -> of == token && login.isCompleted }?.second?.await()
    val renewed = tokens.renewed(token)
    if (request.isMutation && login != null && login != loginOf(renewed)) throw otherAccount()
    return exchangeAs(request, renewed, signIn).also { if (it.isWhollyRefused) tokens.renewed(renewed) }
  }

  /** A mutation, and a request of a known account, go with a token of their own account alone. */
  private suspend fun exchangeAs(request: Outgoing, token: String, signIn: Any): Answer {
    val isOther = request.isMutation && signIn !== tokens.signIn
    if (isOther || (request.login != null && request.login != loginOf(token))) throw otherAccount()
    return exchange(request, token)
  }

  private suspend fun exchange(request: Outgoing, token: String?): Answer {
    request.leaving()
    val body = jsonOf("query" to request.text, "variables" to request.variables)
    var last: Answer? = null
    // A silent connection may be dead: after half of its time a query is sent over a new one.
    withTimeoutOrNull(if (request.repeats && !request.isMutation) request.timeoutMs / 2 else request.timeoutMs) {
      http.answers(body, token, inParts = request.onPart != null).collect { answer ->
        last = answer
        request.onPart?.invoke(answer)
      }
    } ?: throw lateError()
    return last ?: throw protocolError("The answer is empty.")
  }
}

/** Whether nothing was carried out because of the token. */
private val Answer.isWhollyRefused: Boolean
  get() {
    val refused = errors.filter { it.code == UNAUTHENTICATED }
    val fields = refused.mapNotNull { (it.path?.singleOrNull() as? JsonPrimitive)?.content }
    return refused.isNotEmpty() && data.orEmpty().all { (name, value) -> value is JsonNull && name in fields }
  }
