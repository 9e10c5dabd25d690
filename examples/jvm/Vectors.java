import java.io.IOException;
import java.nio.file.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.concurrent.Semaphore;

/** Plays the vectors of a folder to Ticker, by the JDK alone. Each call of Ticker's takes the steps up to its answer. */
public final class Vectors implements Ticker.Platform, Ticker.Events {
  /** Ticker does without these; the cases that need one are counted, and not played. */
  static final Set<String> LACKS = Set.of("pace", "socket", "app", "flapping", "defer", "account", "accounts", "tickets", "two at once", "words", "asks",
      "gaps", "broken disk", "older servers", "knows refusals", "short waits", "doubtful errors", "confused answers", "says offline", "gives up",
      "cool-down", "leave", "catalog", "heartbeat", "gentle", "faulty answers");
  static final Set<String> CALLS = Set.of("subscribe", "try", "place", "void", "query", "end", "tell", "follow", "tap"), QUIET = Set.of("wait", "rest");
  static final Map<String, String> ENDS = Map.of("done", "accepted", "refused", "rejected", "not placed", "unsent");
  static final Instant STARTED = Instant.parse("2026-11-20T09:30:00Z");
  static final Map<String, String> TOKEN = Map.of("code", "UNAUTHENTICATED");
  static final class Over extends RuntimeException {} // The app was killed, or the case has ended.
  final List<Object> keys = new ArrayList<>();
  final Set<String> ended = new HashSet<>();
  Map<String, Object> event, one;
  Ticker.Api api = new Ticker.Api();
  Ticker.LivePositions positions = new Ticker.LivePositions(api);
  String network = "there", renewal = "another", outcome, code;
  int at, tokens;
  double now, began, spent, tapped;
  Object told;
  Ticker.LineLost loss;

  public static void main(String[] folder) throws Exception {
    var counts = new TreeMap<String, Integer>(Map.of("failed", 0));
    for (var file : Path.of(folder[0]).toFile().listFiles((in, name) -> name.endsWith(".json"))) {
      var family = map(Ticker.Json.read(Files.readString(file.toPath())));
      for (var each : (List<?>) family.get("cases")) {
        boolean isOurs = ((List<?>) map(each).getOrDefault("needs", List.of())).stream().noneMatch(LACKS::contains);
        counts.merge(isOurs ? new Vectors().play(map(family.get("event")), map(each)) : "not for this client", 1, Integer::sum);
      }
    }
    System.err.println(counts);
    System.exit(counts.get("failed"));
  }
  String play(Map<String, Object> event, Map<String, Object> one) throws IOException {
    this.event = event; this.one = one; Ticker.platform = this;
    for (var file : Files.createDirectories(Ticker.KEPT_ORDERS).toFile().listFiles()) file.delete();
    try {
      while (at < steps().size()) begin(map(steps().get(at)));
      return "played";
    } catch (Exception | AssertionError wrong) {
      System.err.println("FAILED %s: %s; step %d: %s".formatted(one.get("rule"), one.get("name"), at, wrong));
      return "failed";
    }
  }

  /** What an app does: all that the client does then is played within. */
  void begin(Map<String, Object> step) throws Exception {
    try {
      if (QUIET.contains(name(step))) pass(Double.MAX_VALUE);
      else if (!Set.of("follow", "tap", "query", "mutate", "resume", "start", "kill").contains(name(step)) || step.containsKey("must")) happens(step);
      else switch (name(take())) {
        case "follow" -> positions.follow();
        case "tap" -> { tapped = now; outcome = null; outcome = new Ticker.Orders(api).place("BUY", "AAPL", 1, number(step, "waitMs", 5_000) / 1_000); }
        case "query", "mutate" -> { told = code = null; told = api.ask("home", "{ home { id } }", Map.of()); }
        case "resume" -> new Ticker.Orders(api).resume();
        case "start" -> positions = new Ticker.LivePositions(api = new Ticker.Api());
      }
    } catch (Over over) { began = now;
    } catch (Ticker.Refused | Ticker.SignedOut | IOException end) {
      code = end instanceof Ticker.Refused refused ? refused.code : end instanceof IOException ? "NETWORK" : "SIGNED_OUT";
    }
  }
  /** What takes no time: something changes, or is to be held now. */
  void happens(Map<String, Object> step) {
    switch (name(take())) {
      case "network" -> { if (step.get("is").equals("back")) positions.networkIsBack(); else network = (String) step.get("is"); }
      case "token" -> {
        renewal = (String) step.getOrDefault("renewal", "another");
        if (step.containsKey("ends") && ended.add("token-" + tokens)) lose(new Ticker.LineLost("the stream has ended", false));
      }
      case "show" -> {
        equal(step.getOrDefault("status", positions.status), positions.status);
        equal(step.getOrDefault("asOf", positions.asOf), positions.asOf);
        var held = new ArrayList<>(positions.rows.values());
        var rows = (List<?>) step.getOrDefault("rows", held);
        equal(rows.size(), held.size());
        for (int row = 0; row < rows.size(); row += 1) for (var field : map(rows.get(row)).entrySet()) equal(field.getValue(), held.get(row).get(field.getKey()));
      }
      case "keep" -> equal(((List<?>) step.get("keys")).size(), kept());
      case "renewals" -> equal(step.get("times"), Math.max(0.0, tokens - 1));
      case "end" -> equal(step.get("status"), ENDS.getOrDefault(String.valueOf(outcome), kept() == 0 && !"IDEMPOTENCY_UNAVAILABLE".equals(code) ? "unsent" : "unknown"));
      case "tell" -> equal(step.getOrDefault("code", map(step.get("data")).get("home")), code == null ? told : code);
      case "event", "clock", "be signed out" -> {}
      default -> throw new AssertionError(name(step) + " does not come: " + code + " " + outcome);
    }
  }
  @Override public Ticker.Events open(String body, String token) throws IOException {
    if (ended.contains(token)) return this;
    var step = reach(token, "subscribe", "try");
    if (name(step).equals("try")) throw new IOException("no network");
    var after = map(map(Ticker.Json.read(body)).get("variables")).get("after");
    equal(step.getOrDefault("after", after), after);
    lose(null);
    return this;
  }
  @Override public String next(long ms) throws IOException {
    if (ended.contains("token-" + tokens) && loss == null) return refused(TOKEN);
    for (double deadline = now + ms; loss == null; ) {
      var step = step();
      if (CALLS.contains(name(step))) now = deadline;
      if (now == deadline || QUIET.contains(name(step)) && !pass(deadline)) return null;
      boolean isEvent = name(step).equals("event") && !step.containsKey("line") && network.equals("there");
      if (isEvent || Set.of("cut", "complete").contains(name(step))) {
        var whole = new HashMap<>(event);
        whole.putAll(map(take().get("event")));
        if (step.containsKey("errors")) return Ticker.Json.write(Map.of("errors", step.get("errors")));
        if (isEvent) return Ticker.Json.write(Map.of("data", Map.of("positionChanges", whole)));
        loss = new Ticker.LineLost(name(step), false);
      } else if (!QUIET.contains(name(step))) happens(step);
    }
    try { throw loss; } finally { loss = null; }
  }
  @Override public Ticker.Answer send(String body, String token) throws IOException {
    if (body.contains("login(")) return answer(login());
    if (ended.contains(token)) return answer(refused(TOKEN));
    var step = reach(token, body.contains("voidOrder") ? "void" : body.contains("placeOrder") ? "place" : "query");
    var sent = new HashMap<>(map(map(Ticker.Json.read(body)).get("variables")));
    sent.putAll(map(sent.get("input")));
    var key = sent.getOrDefault("key", sent.get("idempotencyKey"));
    if (!keys.contains(key)) keys.add(key);
    if (step.containsKey("key")) equal(step.get("key"), 1.0 + keys.indexOf(key));
    for (var name : List.of("sendBefore", "keyMade", "since")) if (step.containsKey(name)) {
      double early = number(step, name, 0) - (Duration.between(STARTED, Instant.parse((String) sent.get(name))).toMillis() - tapped);
      if (early < 0 || early > (name.equals("since") ? 4_000 : 1_000)) throw new AssertionError(name + " is early by " + early);
    }
    var with = step.containsKey("answer") ? step.get("answer") : reach(token, "answer").get("with");
    if (with.equals("none")) pause(new Semaphore(0), 10_000);
    if (with.equals("lost") || with.equals("none")) throw new IOException("no answer");
    var given = map(with);
    if (with.equals("page") || given.containsKey("status")) return new Ticker.Answer("<html>", Optional.empty());
    if (given.containsKey("error")) return answer(refused(map(given.get("error"))));
    if (given.containsKey("data")) return answer(Ticker.Json.write(given));
    var type = given.containsKey("accepted") ? "OrderAccepted" : given.containsKey("unknown") ? "OrderOutcomeUnknown" : "OrderRejected";
    var order = Map.of("__typename", type, "reason", given.getOrDefault("unsent", "none"), "sent", !given.containsKey("unsent"));
    return answer(Ticker.Json.write(Map.of("data", Map.of(name(step) + "Order", order))));
  }
  String login() throws IOException {
    if (tokens > 0 && (!network.equals("there") || renewal.equals("fails"))) throw new IOException("nobody could be asked");
    if (tokens == 0 || !renewal.equals("same")) tokens += 1;
    if (tokens > 1 && renewal.equals("refused")) ended.add("token-" + tokens);
    return Ticker.Json.write(Map.of("data", Map.of("login", Map.of(tokens > 1 && renewal.equals("none") ? "message" : "accessToken", "token-" + tokens))));
  }
  @Override public void pause(Semaphore until, long ms) {
    for (double deadline = now + ms; now < deadline && !until.tryAcquire(); )
      if (QUIET.contains(name(step()))) pass(deadline); else if (CALLS.contains(name(step()))) now = deadline; else happens(step());
  }
  /** The step that the client's call is for, in its time, after what happens before it. */
  Map<String, Object> reach(String token, String... names) throws IOException {
    while (!List.of(names).contains(name(step()))) {
      if (!QUIET.contains(name(step()))) happens(step());
      else if (step().containsKey("must")) throw new AssertionError("it does not rest");
      else if (network.equals("dead") ? pass(now + 10_000) | true : !network.equals("there")) throw new IOException("no network");
      else pass(Double.MAX_VALUE);
    }
    double took = now - began;
    if (took > number(step(), "withinMs", 60_000) || took < number(step(), "atLeastMs", 0)) throw new AssertionError("after " + took + " ms");
    equal(step().containsKey("token") ? "token-" + number(step(), "token", 0) : token, token);
    return take();
  }
  /** Lets time pass to the end of the step, or to the deadline; whether the deadline has not come. */
  boolean pass(double deadline) {
    double ms = Math.min(number(step(), "ms", 0) - spent, deadline - now);
    now += ms; spent += ms;
    if (spent == number(step(), "ms", 0)) take();
    return now < deadline;
  }
  Map<String, Object> take() { spent = 0; began = now; return map(steps().get(at++)); }
  List<?> steps() { return (List<?>) one.get("steps"); }
  /** The next step. A call has no answer where the app is killed, or nothing follows. */
  Map<String, Object> step() {
    if (at == steps().size() || name(map(steps().get(at))).equals("kill")) throw new Over();
    return map(steps().get(at));
  }
  static void equal(Object wanted, Object own) { if (!Objects.equals(wanted, own)) throw new AssertionError("wanted " + wanted + ", is " + own); }
  static String name(Map<String, Object> step) { return (String) step.getOrDefault("do", step.get("must")); }
  static Map<String, Object> map(Object value) { return Ticker.Json.object(value); }
  static long number(Map<String, Object> step, String name, long fallback) { return step.get(name) instanceof Double number ? number.longValue() : fallback; }
  static int kept() { return Ticker.KEPT_ORDERS.toFile().list().length; }
  static String refused(Map<String, ?> error) { return Ticker.Json.write(Map.of("errors", List.of(Map.of("message", "no", "extensions", error)))); }
  Ticker.Answer answer(String text) {
    return new Ticker.Answer(text, Optional.of(DateTimeFormatter.RFC_1123_DATE_TIME.format(STARTED.plusMillis((long) now).atOffset(ZoneOffset.UTC))));
  }
  @Override public long uptimeMs() { return (long) now; }
  @Override public double random() { return one.get("random") instanceof Double drawn ? drawn : 0.5; }
  @Override public void inBackground(Ticker.Task task) { try { task.run(); } catch (Exception failure) { code = failure.getMessage(); } }
  @Override public void lose(Ticker.LineLost why) { loss = why; }
  @Override public void close() {}
}
