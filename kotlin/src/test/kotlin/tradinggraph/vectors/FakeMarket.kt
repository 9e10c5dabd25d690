package tradinggraph.vectors

import kotlinx.coroutines.CompletableDeferred
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import tradinggraph.jsonOf

/** The service, as far as a test lets it answer, and the app's sign-in. */
class FakeMarket(private val network: FakeNetwork) : FakeNetwork.Server {
  val waiting = mutableListOf<FakeNetwork.FakeRequest>()
  val subscriptions = mutableListOf<FakeNetwork.FakeSubscription>()
  var renewal = "another"
  var renewals = 0
  private var login: String? = "700001"
  private var token: String? = null
  private var tokens = 0
  private val ended = mutableSetOf<String>()
  private val logins = mutableMapOf<String, String>()
  private val renewing = mutableListOf<CompletableDeferred<String?>>()

  init {
    network.server = this
    newToken()
  }

  suspend fun token(force: Boolean): String? {
    if (!force || token == null) return token
    renewals += 1
    return when (renewal) {
      "waits" -> CompletableDeferred<String?>().also(renewing::add).await()
      "fails" -> error("No token could be requested.")
      "none" -> null
      "same" -> token
      "refused" -> newToken().also(ended::add)
      else -> newToken()
    }
  }

  fun endToken(next: String) {
    renewal = next
    val old = token ?: return
    ended.add(old)
    for (each in subscriptions) if (each.token == old) each.cut(4403)
  }

  fun renew() {
    for (each in renewing) each.complete(newToken())
    renewing.clear()
  }

  fun signIn(login: String?) {
    this.login = login
    token = null
    if (login != null) newToken()
  }

  override fun refuses(token: String) = token in ended || token !in logins

  override fun asked(request: FakeNetwork.FakeRequest) {
    when {
      request.token.isNotEmpty() && refuses(request.token) -> request.answer(null, errorsOf(jsonOf("code" to "UNAUTHENTICATED")))
      request.query == "{ __typename }" -> request.answer(jsonOf("__typename" to "Query"))
      "TradingGraphAccount" in request.query -> request.answer(jsonOf("session" to jsonOf("login" to logins[request.token])))
      else -> waiting.add(request)
    }
  }

  override fun subscribed(subscription: FakeNetwork.FakeSubscription) {
    subscriptions.add(subscription)
  }

  private fun newToken(): String {
    tokens += 1
    val made = "token-$tokens"
    login?.let { logins[made] = it }
    token = made
    return made
  }

  companion object {
    fun errorsOf(extensions: JsonObject) = JsonArray(listOf(jsonOf("message" to "refused", "extensions" to extensions)))
  }
}
