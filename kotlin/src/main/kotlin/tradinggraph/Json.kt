package tradinggraph

import java.time.Instant
import kotlinx.serialization.json.*

// Reads what another program wrote: a value of another type counts as missing.

internal val NOTHING = JsonObject(emptyMap())

internal fun JsonElement?.field(name: String): JsonElement? = (this as? JsonObject)?.get(name)?.takeIf { it !is JsonNull }
internal fun JsonElement?.text(name: String): String? = (field(name) as? JsonPrimitive)?.content
internal fun JsonElement?.number(name: String): Double? = (field(name) as? JsonPrimitive)?.doubleOrNull
internal fun JsonElement?.boolean(name: String): Boolean? = (field(name) as? JsonPrimitive)?.booleanOrNull
internal fun JsonElement?.time(name: String): Instant? = runCatching { Instant.parse(text(name)) }.getOrNull()
internal fun JsonElement?.list(name: String): List<JsonElement> = field(name) as? JsonArray ?: emptyList()

/** Null if the text is no JSON, such as a page. */
internal fun parseJson(text: String): JsonElement? = runCatching { Json.parseToJsonElement(text) }.getOrNull()

/** An object without the fields that are null. */
internal fun jsonOf(vararg fields: Pair<String, Any?>): JsonObject = buildJsonObject {
  for ((name, value) in fields) when (value) {
    null -> {}
    is JsonElement -> put(name, value)
    is Number -> put(name, value)
    is Boolean -> put(name, value)
    else -> put(name, value.toString())
  }
}
