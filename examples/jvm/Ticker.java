import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Scanner;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

/** Live positions and orders by the JDK alone. `Vectors` plays the rules of docs/clients/protocol.md to it. */
public final class Ticker {
  static final URI ENDPOINT = URI.create(setting("TRADING_GRAPH_URL", "http://127.0.0.1:4000/graphql"));
  static final String EMAIL = setting("TRADING_GRAPH_EMAIL", "demo@example.com");
  static final Path KEPT_ORDERS = Path.of(setting("TRADING_GRAPH_ORDERS", "orders"));
  /** How long after the tap an order may still be placed. */
  static final long ORDER_SECONDS = Long.parseLong(setting("TRADING_GRAPH_ORDER_SECONDS", "30"));
  static final int HEARTBEAT_SECONDS = 15;
  static Platform platform = new Jdk();

  public static void main(String[] arguments) throws Exception {
    var api = new Api();
    var positions = new LivePositions(api);
    var orders = new Orders(api);
    platform.inBackground(orders::resume);
    platform.inBackground(() -> {
      for (var input = new Scanner(System.in); input.hasNextLine(); ) {
        String[] words = input.nextLine().trim().split(" +");
        if (words[0].equals("online")) positions.networkIsBack();
        else if (words.length == 3) platform.inBackground(() -> orders.place(words[0], words[1], Double.parseDouble(words[2]), ORDER_SECONDS));
        else say("buy AAPL 1, sell AAPL 1, or online");
      }
    });
    try {
      positions.follow();
    } catch (SignedOut | Refused end) {
      say("the end: " + end.getMessage());
      System.exit(1);
    }
  }

  /** What this program asks of the machine: whoever plays its rules has another one. */
  interface Platform {
    /** An answer within ten seconds; an IOException where none came. */
    Answer send(String body, String token) throws IOException, InterruptedException;
    Events open(String body, String token) throws IOException, InterruptedException;
    long uptimeMs();
    /** From 0 up to, but not including, 1. */
    double random();
    /** Waits for so long, or until that has a permit. */
    void pause(Semaphore until, long ms) throws InterruptedException;
    void inBackground(Task task);
  }

  record Answer(String text, Optional<String> date) {}

  /** The texts that come over an event stream. */
  interface Events extends AutoCloseable {
    /** Null after so long a silence. */
    String next(long ms) throws IOException, InterruptedException;
    void lose(LineLost why);
    /** Drops the connection: a dead one would answer nothing. */
    @Override
    void close() throws IOException;
  }

  static final class Jdk implements Platform {
    static final Duration WITHIN = Duration.ofSeconds(10);
    private final HttpClient http = newHttp();

    /** HTTP/1.1: over HTTP/2 a request without an answer leaves its dead connection to the next one. */
    static HttpClient newHttp() {
      return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(WITHIN).build();
    }

    @Override
    public Answer send(String body, String token) throws IOException, InterruptedException {
      var request = HttpRequest.newBuilder(ENDPOINT).timeout(WITHIN).header("content-type", "application/json");
      if (token != null) request.header("authorization", "Bearer " + token);
      var answer = http.send(request.POST(HttpRequest.BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
      return new Answer(answer.body(), answer.headers().firstValue("date"));
    }

    @Override
    public Events open(String body, String token) throws IOException, InterruptedException {
      return new Stream(body, token);
    }

    @Override
    public long uptimeMs() {
      return System.nanoTime() / 1_000_000;
    }

    @Override
    public double random() {
      return ThreadLocalRandom.current().nextDouble();
    }

    @Override
    public void pause(Semaphore until, long ms) throws InterruptedException {
      if (until.tryAcquire(ms, TimeUnit.MILLISECONDS)) until.drainPermits();
    }

    @Override
    public void inBackground(Task task) {
      var thread = new Thread(() -> {
        try {
          task.run();
        } catch (Exception failure) {
          say("not done: " + failure.getMessage());
        }
      });
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** The token, and requests with it. */
  static final class Api {
    static final String LOGIN = """
        mutation ($input: LoginInput!) {
          login(input: $input) { ... on LoginSuccess { accessToken } ... on Refusal { message } }
        }""";
    private String token;
    private String end;
    private volatile long serverAheadMs;

    /** The token, or another one than that which was refused: fetched once for all that wait for it. */
    synchronized String token(String refused) throws IOException, InterruptedException, Refused, SignedOut {
      if (end == null && (token == null || token.equals(refused))) token = signIn();
      if (end != null) throw new SignedOut(end);
      return token;
    }

    /** Where the renewed token is refused too nobody tries a third. */
    synchronized SignedOut end(String why) {
      end = why;
      return new SignedOut(why);
    }

    /** A field of the answer to a request with the token; a refused token is renewed once. */
    Map<String, Object> ask(String field, String document, Map<String, ?> variables)
        throws IOException, InterruptedException, Refused, SignedOut {
      String sent = token(null);
      try {
        return send(field, document, variables, sent);
      } catch (Refused refused) {
        if (!refused.isOfToken()) throw refused;
      }
      try {
        return send(field, document, variables, token(sent));
      } catch (Refused refused) {
        if (refused.isOfToken()) throw end(refused.getMessage());
        throw refused;
      }
    }

    /** The server's time by the last `Date` and this machine's uptime, which nobody sets; a second behind at most. */
    Instant serverTime() {
      return Instant.ofEpochMilli(platform.uptimeMs() + serverAheadMs);
    }

    private String signIn() throws IOException, InterruptedException, Refused, SignedOut {
      var input = Map.of("email", EMAIL, "password", setting("TRADING_GRAPH_PASSWORD", "demo"));
      var result = send("login", LOGIN, Map.of("input", input), null);
      if (result.get("accessToken") instanceof String fresh && !fresh.equals(token)) return fresh;
      throw end("" + result.get("message"));
    }

    private Map<String, Object> send(String field, String document, Map<String, ?> variables, String token)
        throws IOException, InterruptedException, Refused {
      var answer = platform.send(Json.write(Map.of("query", document, "variables", variables)), token);
      var result = Json.object(Json.read(answer.text()));
      var date = answer.date().map(DateTimeFormatter.RFC_1123_DATE_TIME::parse);
      date.ifPresent(at -> serverAheadMs = Instant.from(at).toEpochMilli() - platform.uptimeMs());
      if (result.get("data") instanceof Map<?, ?> data && data.get(field) != null) return Json.object(data.get(field));
      throw Refused.first(result.get("errors"));
    }
  }

  /** The positions by id, from a snapshot and then from what changed. */
  static final class LivePositions {
    static final String LIVE = """
        subscription ($after: String, $heartbeat: Int) {
          positionChanges(after: $after, intervalMs: 1000, heartbeatSeconds: $heartbeat) {
            cursor snapshot upserted { id symbol side units priceCurrent profit } ticks { id priceCurrent profit }
            closed totals { count } status asOf
          }
        }""";
    private static final int CURSORS_KEPT = 16;
    private final Api api;
    private final Semaphore back = new Semaphore(0);
    private final ArrayDeque<Object> seen = new ArrayDeque<>();
    private volatile Line line;
    private boolean wasWhole;
    Map<String, Map<String, Object>> rows = new LinkedHashMap<>();
    String status = "CONNECTING";
    /** Null where the list lacks something, or there is none. */
    String cursor;
    String asOf;

    LivePositions(Api api) {
      this.api = api;
    }

    /** Follows until nobody is signed in, or the server says that it is no use to ask again. */
    void follow() throws InterruptedException, SignedOut, Refused {
      String refused = null;
      int gaps = 0;
      for (int failures = 0; ; failures += 1) {
        String token = null;
        long leastMs = 0;
        try {
          token = api.token(refused);
          back.drainPermits();
          try (var opened = new Line(token, LIVE, variables())) {
            line = opened;
            var event = opened.next();
            for (boolean isFirst = true; ; isFirst = false, event = opened.next()) {
              refused = null;
              if (!fold(Json.object(event.get("positionChanges")), isFirst)) {
                cursor = null;
                failures = gaps++;
                throw new LineLost("something is missing", false);
              }
              failures = 0;
              if (!isFirst) gaps = 0;
            }
          }
        } catch (LineLost lost) {
          say("OFFLINE, as of " + asOf + ": " + lost.getMessage());
          status = "OFFLINE";
          if (lost.isSilent && failures == 0) continue;
        } catch (IOException failure) {
          say("OFFLINE, as of " + asOf + ": " + failure);
          status = "OFFLINE";
        } catch (Refused refusal) {
          status = "OFFLINE";
          if (refusal.isOfToken() && token != null) {
            if (refused != null) throw api.end(refusal.getMessage());
            refused = token;
            continue;
          }
          if (!refusal.isRetryable) throw refusal;
          leastMs = refusal.retryAfterMs;
          say("DELAYED, as of " + asOf + ": " + refusal.getMessage());
        }
        // A renewed token may end while the next line is waited for.
        if (token != null) refused = null;
        platform.pause(back, leastMs + pauseMs(failures, 30_000));
      }
    }

    /** Called where the platform knows of a network that is back, or another: the old line is left to die. */
    void networkIsBack() {
      back.release();
      if (line != null) line.events.lose(new LineLost("another network", true));
    }

    private Map<String, Object> variables() {
      var variables = new HashMap<String, Object>(Map.of("heartbeat", HEARTBEAT_SECONDS));
      variables.put("after", cursor);
      return variables;
    }

    /** False where an event is missing, or came out of order: then nothing but the whole list helps. */
    private boolean fold(Map<String, Object> event, boolean isFirst) {
      boolean isWhole = event.get("snapshot") == Boolean.TRUE;
      var named = (String) event.get("cursor");
      var moment = (String) event.get("asOf");
      if (cursor == null && !isWhole) return false;
      boolean isLate = !isFirst && asOf != null && Instant.parse(moment).isBefore(Instant.parse(asOf));
      boolean isSame = named.equals(cursor) && !isWhole;
      if (!isSame && !(isFirst && isWhole) && seen.contains(named)) return true;
      if (isLate && !isSame) return false;
      // It may be of another server, whose cursors are not those that came.
      if (isFirst && isWhole) seen.clear();
      var after = isWhole ? new LinkedHashMap<String, Map<String, Object>>() : new LinkedHashMap<>(rows);
      after.keySet().removeAll((List<?>) event.get("closed"));
      for (var row : rowsOf(event, "upserted")) after.put((String) row.get("id"), row);
      for (var tick : rowsOf(event, "ticks")) {
        // Nothing else of the row has changed.
        var row = after.get(tick.get("id"));
        if (row == null) return false;
        var moved = new LinkedHashMap<>(row);
        moved.putAll(tick);
        after.put((String) tick.get("id"), moved);
      }
      // A heartbeat came ahead of the change that it follows.
      if (isSame && !after.equals(rows)) return false;
      boolean isCounted = Json.object(event.get("totals")).get("count") instanceof Double count && count == after.size();
      if (!isWhole && wasWhole && !isCounted) return false;
      if (isLate) return true;
      for (var id : rows.keySet()) if (!after.containsKey(id)) say("position " + id + " closed");
      for (var row : after.values()) {
        if (row.equals(rows.get(row.get("id")))) continue;
        say(row.get("symbol") + " " + row.get("side") + " " + row.get("units") + " at " + row.get("priceCurrent"));
      }
      rows = after;
      wasWhole = isCounted;
      seen.addLast(named);
      if (seen.size() > CURSORS_KEPT) seen.removeFirst();
      cursor = named;
      asOf = moment;
      status = (String) event.get("status");
      say(status + " " + asOf + " " + rows.size() + " positions");
      return true;
    }

    private static List<Map<String, Object>> rowsOf(Map<String, Object> event, String name) {
      return ((List<?>) event.get(name)).stream().map(Json::object).toList();
    }
  }

  /** One subscription, over a connection of its own. */
  static final class Line implements AutoCloseable {
    final Events events;

    Line(String token, String document, Map<String, ?> variables) throws IOException, InterruptedException {
      events = platform.open(Json.write(Map.of("query", document, "variables", variables)), token);
    }

    /** The next event. The heartbeat and ten seconds without anything: then the line is dead, though nobody says so. */
    Map<String, Object> next() throws IOException, InterruptedException, Refused {
      int longest = HEARTBEAT_SECONDS + 10;
      var text = events.next(1_000L * longest);
      if (text == null) throw new LineLost("silent for " + longest + " s", true);
      var result = Json.object(Json.read(text));
      if (result.get("data") instanceof Map<?, ?> data) return Json.object(data);
      throw Refused.first(result.get("errors"));
    }

    @Override
    public void close() throws IOException {
      events.close();
    }
  }

  /**
   * One event stream: it is packed, which the JDK's sockets are not, and begins a round trip earlier. What arrives waits in a
   * queue for whoever reads it.
   */
  static final class Stream implements Events {
    private final BlockingQueue<Object> heard = new LinkedBlockingQueue<>();
    private final HttpResponse<InputStream> answer;

    /** Over a connection of its own, since one that was kept may be as dead as the line before. */
    Stream(String body, String token) throws IOException, InterruptedException {
      var request = HttpRequest.newBuilder(ENDPOINT).header("content-type", "application/json");
      request.header("accept", "text/event-stream").header("accept-encoding", "gzip");
      request.header("authorization", "Bearer " + token).POST(HttpRequest.BodyPublishers.ofString(body));
      // A time-out of the request's own would end the stream too, from JDK 26 on.
      var asking = Jdk.newHttp().sendAsync(request.build(), BodyHandlers.ofInputStream());
      try {
        answer = asking.get(Jdk.WITHIN.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException failure) {
        asking.cancel(true);
        throw new IOException(failure);
      }
      platform.inBackground(this::read);
    }

    @Override
    public String next(long ms) throws IOException, InterruptedException {
      var message = heard.poll(ms, TimeUnit.MILLISECONDS);
      if (message instanceof LineLost lost) throw lost;
      return (String) message;
    }

    @Override
    public void lose(LineLost why) {
      heard.add(why);
    }

    private void read() {
      try (var stream = isHeader("content-encoding", "gzip") ? new GZIPInputStream(answer.body()) : answer.body()) {
        // What is refused before it began has one answer in JSON.
        if (!isHeader("content-type", "text/event-stream")) heard.add(new String(stream.readAllBytes(), UTF_8));
        for (var text = line(stream); text != null; text = line(stream)) {
          if (text.startsWith("data: {")) heard.add(text.substring(6));
        }
        lose(new LineLost("the stream has ended", false));
      } catch (IOException failure) {
        lose(new LineLost(String.valueOf(failure), false));
      }
    }

    /** Null at the end. A reader of the JDK would wait for more than a line, since a packed stream cannot say what it has. */
    private static String line(InputStream stream) throws IOException {
      var bytes = new ByteArrayOutputStream();
      for (int each = stream.read(); each >= 0; each = stream.read()) {
        if (each == '\n') return bytes.toString(UTF_8);
        bytes.write(each);
      }
      return null;
    }

    private boolean isHeader(String name, String value) {
      return answer.headers().firstValue(name).orElse("").startsWith(value);
    }

    @Override
    public void close() throws IOException {
      answer.body().close();
    }
  }

  /** Orders, each kept on disk under its key from before it is sent until its outcome is known. */
  static final class Orders {
    static final String OUTCOME =
        "{ __typename ... on OrderOutcome { message } ... on OrderRejected { reason sent } }";
    static final String PLACE = "mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) " + OUTCOME + " }";
    static final String VOID = "mutation ($key: String!, $since: DateTime) "
        + "{ voidOrder(idempotencyKey: $key, since: $since) " + OUTCOME + " }";
    /** The reasons that speak of each request with the key; there may be others one day. */
    static final Set<String> SURE = Set.of("VOIDED", "SETTLED");
    private final Api api;

    Orders(Api api) {
      this.api = api;
    }

    /** Ends the doubt about orders of an earlier run, which are not sent again. */
    void resume() throws Exception {
      Files.createDirectories(KEPT_ORDERS);
      try (var files = Files.newDirectoryStream(KEPT_ORDERS, "*.json")) {
        for (var file : files) {
          var kept = Json.object(Json.read(Files.readString(file)));
          // A key is one account's: for another it would be unused, and the answer that nothing was sent.
          if (EMAIL.equals(kept.get("account"))) platform.inBackground(() -> close(kept));
        }
      }
    }

    /** What became of it, in words. */
    String place(String side, String symbol, double units, long seconds) throws Exception {
      api.token(null); // No order is kept that nobody could send, and the answer tells the server's time.
      var since = api.serverTime();
      var input = Map.of(
          "symbol", symbol, "side", side.toUpperCase(), "kind", "MARKET", "size", Map.of("units", units),
          "idempotencyKey", UUID.randomUUID().toString(), "sendBefore", since.plusSeconds(seconds).toString(),
          "keyMade", since.toString());
      Map<String, Object> kept = Map.of("account", EMAIL, "since", since.toString(), "input", input);
      keep(kept);
      return settle(kept);
    }

    /** Sends it, and again under its key, for as long as it is meant; then its key is closed. */
    private String settle(Map<String, Object> kept) throws Exception {
      var input = Json.object(kept.get("input"));
      var before = Instant.parse((String) input.get("sendBefore"));
      Refused unsent = null;
      boolean isUnsent = true;
      for (int failures = 0; api.serverTime().isBefore(before); failures += 1) {
        long leastMs = 0;
        try {
          var outcome = api.ask("placeOrder", PLACE, Map.of("input", input));
          // That says nothing of earlier requests, such as one that somebody on the way has sent twice: closing the key does.
          isUnsent = false;
          if (outcome.get("sent") == Boolean.FALSE) break;
          return end(kept, outcome);
        } catch (IOException lost) {
          isUnsent = false;
          say("order: no answer yet, asking what became of it");
        } catch (Refused refused) {
          // Some are sent all the same, or were before: closing the key tells.
          unsent = refused;
          isUnsent &= refused.wasNotSent;
          if (!refused.isRetryable) say("order: " + refused.getMessage());
          if (!refused.isRetryable) break;
          leastMs = refused.retryAfterMs;
        }
        platform.pause(new Semaphore(0), leastMs + pauseMs(failures, 4_000));
      }
      // Each of its requests was said to have sent nothing, and the JDK's client sends none twice.
      if (unsent != null && isUnsent) {
        Files.delete(fileOf(kept));
        say("order: not placed, " + unsent.getMessage());
        return "not placed";
      }
      return close(kept);
    }

    /** Ends the doubt: its outcome where it was placed, else it never is. */
    private String close(Map<String, Object> kept) throws Exception {
      var variables = Map.of("key", keyOf(kept), "since", kept.get("since"));
      for (int failures = 0; ; failures += 1) {
        long leastMs = 0;
        try {
          var outcome = api.ask("voidOrder", VOID, variables);
          // A repeat is refused so also where the first request is forgotten: a key of the same age tells whether the records reach back.
          if (outcome.get("sent") == Boolean.FALSE && !SURE.contains(outcome.get("reason"))) {
            api.ask("voidOrder", VOID, Map.of("key", UUID.randomUUID().toString(), "since", kept.get("since")));
          }
          return end(kept, outcome);
        } catch (IOException lost) {
          say("order: making sure that it is placed or not");
        } catch (Refused refused) {
          // The server's records do not reach back to it, and never will.
          if (refused.code.equals("IDEMPOTENCY_UNAVAILABLE") && !refused.isRetryable && !refused.isLimit) Files.delete(fileOf(kept));
          if (!refused.isRetryable) throw refused;
          leastMs = refused.retryAfterMs;
        }
        platform.pause(new Semaphore(0), leastMs + pauseMs(failures, 4_000));
      }
    }

    private String end(Map<String, Object> kept, Map<String, Object> outcome) throws IOException {
      var isUnknown = "OrderOutcomeUnknown".equals(outcome.get("__typename"));
      var isAccepted = "OrderAccepted".equals(outcome.get("__typename"));
      var isUnsent = outcome.get("sent") == Boolean.FALSE;
      // The next run asks again for one that is unknown.
      if (!isUnknown) Files.delete(fileOf(kept));
      var word = isAccepted ? "done" : isUnknown ? "sent, and it may have been carried out" : isUnsent ? "not placed" : "refused";
      say("order: " + word + ", " + outcome.get("message"));
      return word;
    }

    /** On the disk when this returns, whole or not at all. */
    private void keep(Map<String, Object> kept) throws IOException {
      var draft = Files.createTempFile(KEPT_ORDERS, "order", ".tmp");
      try (var file = FileChannel.open(draft, StandardOpenOption.WRITE)) {
        file.write(ByteBuffer.wrap(Json.write(kept).getBytes(UTF_8)));
        file.force(true);
      }
      Files.move(draft, fileOf(kept), StandardCopyOption.ATOMIC_MOVE);
    }

    private static Path fileOf(Map<String, Object> kept) {
      return KEPT_ORDERS.resolve(keyOf(kept) + ".json");
    }

    private static Object keyOf(Map<String, Object> kept) {
      return Json.object(kept.get("input")).get("idempotencyKey");
    }
  }

  /** The first error of an answer: the server says what it is, and whether the same request may succeed later. */
  static final class Refused extends Exception {
    final String code;
    final boolean isRetryable;
    final long retryAfterMs;
    /** The account has had its share of orders or keys. */
    final boolean isLimit;
    /** This request sent no order; an earlier one may have. */
    final boolean wasNotSent;

    private Refused(Map<String, Object> error) {
      super(String.valueOf(error.get("message")));
      var extensions = Json.object(error.get("extensions"));
      code = String.valueOf(extensions.get("code"));
      isRetryable = extensions.get("retryable") == Boolean.TRUE;
      retryAfterMs = extensions.get("retryAfter") instanceof Double seconds ? (long) (1_000 * seconds) : 0;
      isLimit = extensions.containsKey("limit");
      wasNotSent = extensions.get("sent") == Boolean.FALSE;
    }

    boolean isOfToken() {
      return code.equals("UNAUTHENTICATED");
    }

    static Refused first(Object errors) throws IOException {
      if (errors instanceof List<?> list && !list.isEmpty()) return new Refused(Json.object(list.get(0)));
      throw new IOException("an answer with neither data nor errors");
    }
  }

  /** Nobody is signed in: an app shows the form of its sign-in. */
  static final class SignedOut extends Exception {
    SignedOut(String why) {
      super("signed out: " + why);
    }
  }

  static final class LineLost extends IOException {
    final boolean isSilent;

    LineLost(String why, boolean isSilent) {
      super(why);
      this.isSilent = isSilent;
    }
  }

  /** Objects are maps, arrays are lists, numbers are doubles. */
  static final class Json {
    private final String text;
    private int at;

    private Json(String text) {
      this.text = text;
    }

    /** A page of a portal or a proxy is no JSON: the request has no answer then. */
    static Object read(String text) throws IOException {
      try {
        return new Json(text).value();
      } catch (IndexOutOfBoundsException | IllegalArgumentException broken) {
        throw new IOException("an answer that is no JSON", broken);
      }
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> object(Object value) {
      return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
    }

    static String write(Object value) {
      if (value instanceof Map<?, ?> map) {
        var members = map.entrySet().stream().map(each -> write(each.getKey()) + ":" + write(each.getValue()));
        return members.collect(Collectors.joining(",", "{", "}"));
      }
      if (value instanceof List<?> list) return list.stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
      if (!(value instanceof String string)) return String.valueOf(value);
      var escaped = string.chars().mapToObj(c -> c < ' ' || c == '"' || c == '\\' ? "\\u%04x".formatted(c) : "" + (char) c);
      return escaped.collect(Collectors.joining("", "\"", "\""));
    }

    private Object value() {
      if (has('{')) {
        var object = new LinkedHashMap<String, Object>();
        while (!has('}')) {
          var name = (String) value();
          has(':');
          object.put(name, value());
          has(',');
        }
        return object;
      }
      if (has('[')) {
        var list = new ArrayList<Object>();
        for (; !has(']'); has(',')) list.add(value());
        return list;
      }
      if (has('"')) return string();
      int from = at;
      while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) at += 1;
      var word = text.substring(from, at);
      return switch (word) {
        case "null" -> null;
        case "true", "false" -> Boolean.valueOf(word);
        default -> Double.valueOf(word);
      };
    }

    private String string() {
      var string = new StringBuilder();
      for (char c = text.charAt(at++); c != '"'; c = text.charAt(at++)) {
        if (c == '\\') c = escaped(text.charAt(at++));
        string.append(c);
      }
      return string.toString();
    }

    private char escaped(char letter) {
      int known = "bfnrt".indexOf(letter);
      if (known >= 0) return "\b\f\n\r\t".charAt(known);
      if (letter != 'u') return letter;
      at += 4;
      return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    /** Whether this comes next, which is then read. */
    private boolean has(char sign) {
      while (at < text.length() && text.charAt(at) <= ' ') at += 1;
      if (text.charAt(at) != sign) return false;
      at += 1;
      return true;
    }
  }

  interface Task {
    void run() throws Exception;
  }

  /** 1, 2, 4 … seconds, and with jitter, so that those who were cut off together do not come back together. */
  static long pauseMs(int failures, long longest) {
    long ceiling = Math.min(longest, 1_000L << Math.min(failures, 10));
    return (long) (ceiling / 2 * (1 + platform.random()));
  }

  static void say(String line) {
    System.out.println(line);
  }

  static String setting(String name, String fallback) {
    return System.getenv().getOrDefault(name, fallback);
  }
}
