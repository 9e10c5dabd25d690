// Never compiled with Apollo's libraries or Android's: README.md says with what it was.
package com.example.trading

import com.apollographql.apollo.api.ApolloResponse
import com.apollographql.apollo.api.Error
import com.apollographql.apollo.api.Operation
import com.apollographql.apollo.exception.DefaultApolloException
import kotlin.random.Random

/** The first error of an answer: the server says what it is, and whether the same request may succeed later. */
class Refused(error: Error) : Exception(error.message) {
  val code = error.extensions?.get("code")
  val isRetryable = error.extensions?.get("retryable") == true
  val retryAfterMs = 1_000 * ((error.extensions?.get("retryAfter") as? Number)?.toLong() ?: 0)

  /** The account has had its share of orders or keys. */
  val isLimit = error.extensions?.get("limit") != null

  val isOfToken get() = code == "UNAUTHENTICATED"
}

/** Nobody is signed in: show the form of the sign-in. */
class SignedOut(why: String?) : Exception(why)

/** There is no network: the order was not placed, and does not go out when the network is back. */
class Offline : Exception("no network")

/** With `partial` a screen shows what there is; else each field counts. */
fun <D : Operation.Data> ApolloResponse<D>.dataOrRefused(partial: Boolean = false): D {
  exception?.let { throw it }
  val refusals = errors.orEmpty().map(::Refused)
  refusals.firstOrNull { it.isOfToken }?.let { throw it }
  val data = data
  if (data != null && (refusals.isEmpty() || partial)) return data
  throw refusals.firstOrNull() ?: DefaultApolloException("an answer with neither data nor errors")
}

/** 1, 2, 4 … seconds, and with jitter. */
fun pauseMs(failures: Int, longest: Long): Long {
  val ceiling = minOf(longest, 1_000L shl minOf(failures, 10))
  return Random.nextLong(ceiling / 2, ceiling)
}
