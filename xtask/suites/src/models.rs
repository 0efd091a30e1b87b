//! Benchmark models from the literature, rewritten for this project, of any size.

/// Stations that share a bus, listen before they send and back off after a collision (CSMA/CD).
pub(crate) fn csma(n: u32) -> String {
    format!(
        "const int N = {n};
const int SLOT = 26;
const int FRAME = 808;
typedef int[1,N] station;
chan begin, end, busy;
broadcast chan collide;

process Bus() {{
    clock y;
    state idle, active, jam {{ y < SLOT }};
    init idle;
    trans
        idle -> active {{ sync begin?; assign y = 0; }},
        active -> idle {{ sync end?; assign y = 0; }},
        active -> active {{ guard y >= SLOT; sync busy!; }},
        active -> jam {{ guard y < SLOT; sync begin?; assign y = 0; }},
        jam -> idle {{ sync collide!; assign y = 0; }};
}}

process Station(const station i) {{
    clock x;
    state quiet, sending {{ x <= FRAME }}, backoff {{ x < 2 * SLOT }};
    init quiet;
    trans
        quiet -> sending {{ sync begin!; assign x = 0; }},
        quiet -> backoff {{ sync busy?; assign x = 0; }},
        quiet -> backoff {{ sync collide?; assign x = 0; }},
        sending -> quiet {{ guard x == FRAME; sync end!; assign x = 0; }},
        sending -> backoff {{ sync collide?; assign x = 0; }},
        backoff -> sending {{ sync begin!; assign x = 0; }},
        backoff -> backoff {{ sync busy?; assign x = 0; }},
        backoff -> backoff {{ sync collide?; assign x = 0; }};
}}
system Bus, Station;
"
    )
}

/// Trains that share a bridge; a controller stops and restarts them in order.
pub(crate) fn train_gate(n: u32) -> String {
    format!(
        "const int N = {n};
typedef int[0,N-1] train;
chan near[N], stop[N], leave[N];
urgent chan start[N];

process Train(const train i) {{
    clock x;
    state away, coming {{ x <= 20 }}, halted, starting {{ x <= 15 }}, crossing {{ x <= 5 }};
    init away;
    trans
        away -> coming {{ sync near[i]!; assign x = 0; }},
        coming -> halted {{ guard x <= 10; sync stop[i]?; }},
        coming -> crossing {{ guard x >= 10; assign x = 0; }},
        halted -> starting {{ sync start[i]?; assign x = 0; }},
        starting -> crossing {{ guard x >= 7; assign x = 0; }},
        crossing -> away {{ guard x >= 3; sync leave[i]!; }};
}}

process Gate() {{
    int[0,N] length = 0;
    int[0,N-1] line[N];
    void join(int[0,N-1] t) {{ line[length] = t; length++; }}
    void go() {{
        int k;
        for (k = 0; k + 1 < length; k++) {{ line[k] = line[k + 1]; }}
        length--;
        line[length] = 0;
    }}
    state open, taken, choosing;
    commit choosing;
    init open;
    trans
        open -> taken {{ guard length > 0; sync start[line[0]]!; }},
        open -> taken {{ select t : train; guard length == 0; sync near[t]?; assign join(t); }},
        taken -> choosing {{ select t : train; sync near[t]?; assign join(t); }},
        choosing -> taken {{ sync stop[line[length - 1]]!; }},
        taken -> open {{ select t : train; guard line[0] == t; sync leave[t]?; assign go(); }};
}}
system Train, Gate;
"
    )
}

/// A ring of stations that pass a token with timed rotation (FDDI): three clocks per station.
pub(crate) fn fddi(n: u32) -> String {
    format!(
        "const int N = {n};
const int HOLD = 20;
const int ROTATION = 50 * N;
typedef int[0,N-1] station;
chan take[N], give[N];

process Station(const station i) {{
    clock held, even, odd;
    state
        waitEven, syncEven {{ held <= HOLD }}, asyncEven {{ even <= ROTATION }},
        waitOdd, syncOdd {{ held <= HOLD }}, asyncOdd {{ odd <= ROTATION }};
    init waitEven;
    trans
        waitEven -> syncEven {{ sync take[i]?; assign odd = 0, held = 0; }},
        syncEven -> waitOdd {{ guard held >= HOLD && even >= ROTATION; sync give[i]!; }},
        syncEven -> asyncEven {{ guard held >= HOLD && even < ROTATION; }},
        asyncEven -> waitOdd {{ sync give[i]!; }},
        waitOdd -> syncOdd {{ sync take[i]?; assign even = 0, held = 0; }},
        syncOdd -> waitEven {{ guard held >= HOLD && odd >= ROTATION; sync give[i]!; }},
        syncOdd -> asyncOdd {{ guard held >= HOLD && odd < ROTATION; }},
        asyncOdd -> waitEven {{ sync give[i]!; }};
}}

process Ring() {{
    clock t;
    station at = 0;
    state moving {{ t <= 0 }}, taken;
    init moving;
    trans
        moving -> taken {{ sync take[at]!; }},
        taken -> moving {{ sync give[at]?; assign t = 0, at = (at + 1) % N; }};
}}
system Station, Ring;
"
    )
}

/// Clients that collect certificates of a single sign-on (CorSSO: Yu and Wang, *SAT-based model
/// checking for region automata*, 2006): the time between two is longer than `GAP`, and all must be
/// used within `LIFE`.
pub(crate) fn certificates(n: u32) -> String {
    format!(
        "const int N = {n};
const int GAP = 2;
const int LIFE = 10;
const int NEED[2] = {{ 1, 2 }};
typedef int[1,N] client;

process Client(const client i) {{
    clock since, first;
    int[0,3] held;
    int[0,2] policy;
    state asking, granted;
    init asking;
    trans
        asking -> asking {{ guard policy > 0 && held < 2 && since > GAP; assign held = held + 1, since = 0; }},
        asking -> asking {{ select k : int[1,2]; guard policy == 0; assign policy = k, held = 0, since = 0, first = 0; }},
        asking -> granted {{ select k : int[1,2]; guard policy == k && held >= NEED[k - 1] && first < LIFE; }},
        granted -> asking {{ assign policy = 0; }};
}}
system Client;
"
    )
}
