// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import android.os.SystemClock
import com.apollographql.apollo.ApolloCall
import com.apollographql.apollo.ApolloClient
import com.apollographql.apollo.api.ApolloResponse
import com.apollographql.apollo.api.Operation
import com.apollographql.apollo.api.http.valueOf
import com.apollographql.apollo.exception.DefaultApolloException
import com.apollographql.apollo.network.http.DefaultHttpEngine
import com.apollographql.apollo.network.http.HttpInfo
import com.apollographql.apollo.network.websocket.GraphQLWsProtocol
import com.apollographql.apollo.network.websocket.WebSocketNetworkTransport
import com.apollographql.apollo.network.websocket.closeConnection
import com.example.api.HomeQuery
import com.example.api.SignInMutation
import com.example.api.type.LoginInput
import java.time.Instant
import java.time.ZonedDateTime
import java.time.format.DateTimeFormatter
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

/** The token, and requests with it. */
class Session(url: String, private val store: AccountStore, onAnswer: (Breadcrumb) -> Unit) {
  private val mutex = Mutex()
  @Volatile
  var account = store.read()
    private set
  /** The credentials of this run only. A run that has none shows the form again when the token ends. */
  private var password: String? = null
  /** Called where somebody has signed in or out: what is followed is another's. */
  var onAccount: () -> Unit = {}
  @Volatile
  private var serverAheadMs: Long? = null

  val client = ApolloClient.Builder()
    .serverUrl(url)
    .httpEngine(DefaultHttpEngine(timeoutMillis = 10_000))
    .addInterceptor(Breadcrumbs(onAnswer))
    .subscriptionNetworkTransport(
      // OkHttp packs its sockets, and tells the code with which one is closed.
      WebSocketNetworkTransport.Builder()
        .serverUrl(url)
        .wsProtocol(GraphQLWsProtocol { mapOf("authorization" to "Bearer ${account?.token}") })
        .build()
    )
    .build()

  /** Throws `SignedOut` with the server's words where it is refused. */
  suspend fun signIn(email: String, password: String) = mutex.withLock { logIn(email, password) }

  suspend fun signOut() = mutex.withLock { end("signed out", account?.token) }

  /** The account with its token, or another token than that which was refused: fetched once for all that wait for it. */
  suspend fun account(refused: String?): Account = mutex.withLock {
    val known = account ?: throw SignedOut("nobody is signed in")
    if (known.token != refused) return@withLock known
    try {
      logIn(known.email, password ?: throw SignedOut("the token has ended"))
    } catch (signedOut: SignedOut) {
      throw end(signedOut.message, refused)
    }
  }

  /** Where the renewed token is refused too nobody tries a third. */
  suspend fun giveUp(token: String): SignedOut = mutex.withLock { end("the renewed token is refused", token) }

  /** An answer to a request with the token; a refused token is renewed once. With `email` as that account alone. */
  suspend fun <D : Operation.Data> ask(call: ApolloCall<D>, partial: Boolean = false, email: String? = null): D {
    var refused: String? = null
    while (true) {
      val sender = account(refused)
      if (email != null && email != sender.email) throw SignedOut("another account is signed in")
      try {
        val answer = call.copy().addHttpHeader("authorization", "Bearer ${sender.token}").execute()
        return heard(answer).dataOrRefused(partial)
      } catch (refusal: Refused) {
        if (!refusal.isOfToken) throw refusal
        if (refused != null) throw giveUp(sender.token)
        refused = sender.token
      }
    }
  }

  /** The server's time by the last `Date` and this device's uptime, which nobody sets; some two seconds behind at most. */
  suspend fun serverTime(): Instant {
    if (serverAheadMs == null) ask(client.query(HomeQuery()), partial = true)
    val aheadMs = serverAheadMs ?: throw DefaultApolloException("an answer without a date")
    return Instant.ofEpochMilli(SystemClock.elapsedRealtime() + aheadMs)
  }

  /** The next subscription has a socket of its own. */
  fun dropLine(why: String) = client.subscriptionNetworkTransport.closeConnection(DefaultApolloException(why))

  private suspend fun logIn(email: String, password: String): Account {
    val call = client.mutation(SignInMutation(LoginInput(email = email, password = password)))
    val answer = heard(call.execute()).dataOrRefused().login
    val token = answer?.onLoginSuccess?.accessToken ?: throw SignedOut(answer?.onRefusal?.message ?: "refused")
    val signedIn = Account(email, token)
    store.write(signedIn)
    val isAnother = account?.email != email
    account = signedIn
    this.password = password
    if (isAnother) onAccount()
    return signedIn
  }

  /** Orders stay on the disk. */
  private fun end(why: String?, token: String?): SignedOut {
    if (account?.token == token) {
      account = null
      password = null
      store.delete()
      onAccount()
    }
    return SignedOut(why)
  }

  private fun <D : Operation.Data> heard(answer: ApolloResponse<D>): ApolloResponse<D> {
    val date = answer.executionContext[HttpInfo]?.headers?.valueOf("date") ?: return answer
    val at = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant()
    serverAheadMs = at.toEpochMilli() - SystemClock.elapsedRealtime()
    return answer
  }
}
