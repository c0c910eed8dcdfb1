// Runs the switch over frames on its GMII ports and writes what it sends.
//
// Usage: harness SCRIPT OCTETS SENT SENT_OCTETS. SCRIPT is an array of 64-bit words of this machine: {register
// accesses, frames, quiet cycles at the end, cycle of a reset}, per access {cycle, write, address, value}, per frame
// {port, first cycle, octets, octet of its carrier with rx_er or none, octets of gap before it, of preamble}; OCTETS holds the frames from destination to frame check
// sequence, one after the other. Accesses are done one after the other, not before their cycle: those of cycle 0
// before the run begins, those of the last cycle there is after it.
//
// SENT: {sent frames, cycles}, per given frame {cycle of its start delimiter}, per sent frame {port, cycle of its
// start delimiter, octets, gap before it, whether it ended with tx_er}, per access {cycle of the answer, what was
// read, whether it was refused}, per frame that came to the queues (`enqueue_probe.sv`) {cycle, time of the switch,
// ports that took it, ports that dropped it, class, lane, reception port, octets in the buffer, eligibility time}.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <vector>

#include "Vtsn_switch.h"
#include "Vtsn_switch__Dpi.h"
#include "verilated.h"

using Words = std::vector<uint64_t>;
#ifndef PORTS
#define PORTS 4
#endif
constexpr uint64_t BEFORE = 0, AFTER = ~0ull;

template <typename T>
static std::vector<T> read_file(const char* path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::vector<T> data(static_cast<size_t>(file.tellg()) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size() * sizeof(T)));
    return data;
}

template <typename T>
static void write_file(const char* path, const std::vector<T>& data) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size() * sizeof(T)));
}

struct Given { uint64_t port, first, octets, error, gap, preamble, offset, index; };
struct Sent { uint64_t port, sfd, octets, gap, bad; };

// The transmitting side of a neighbour: a gap at least, preamble, delimiter, frame.
struct Source {
    std::deque<Given> frames;
    uint64_t at = 0, idle = 12;
    bool active = false;
};

// Its receiving side.
struct Sink {
    bool inside = false, after_sfd = false, bad = false;
    uint64_t sfd = 0, gap = 0, idle = 1000;
    std::vector<uint8_t> octets;
};

static Vtsn_switch* dut;

// The cycle of the run, and the reports of the probe since it began.
static uint64_t now = 0;
static Words enqueued;
extern "C" void frame_enqueued(unsigned taken, unsigned dropped, unsigned class_, unsigned lane, unsigned source,
                               unsigned octets, unsigned long long eligible, unsigned long long time) {
    enqueued.insert(enqueued.end(), {now, time, taken, dropped, class_, lane, source, octets, eligible});
}

// The clock is low again with the next evaluation, which settles the inputs of the next cycle, too.
static void rise() {
    dut->clk_i = 1;
    dut->eval();
    dut->clk_i = 0;
}
static void edge() {
    rise();
    dut->eval();
}

// Accesses to registers, one at a time, a step in every cycle.
struct Master {
    const uint64_t* rows;
    uint64_t count, next = 0;
    bool busy = false;
    Words answers;

    bool due(uint64_t cycle) const { return next < count && rows[4 * next] <= cycle; }

    // Sets the inputs for this cycle.
    void drive(uint64_t cycle) {
        if (!busy && due(cycle)) {
            const uint64_t* row = rows + 4 * next;
            busy = true;
            dut->axil_awvalid_i = dut->axil_wvalid_i = row[1] != 0;
            dut->axil_arvalid_i = row[1] == 0;
            dut->axil_awaddr_i = dut->axil_araddr_i = (uint16_t)row[2];
            dut->axil_wdata_i = (uint32_t)row[3];
            dut->axil_wstrb_i = 15;
        }
        dut->axil_bready_i = dut->axil_rready_i = 1;
    }

    // Looks at the outputs of this cycle; the inputs change after the edge.
    bool taken = false, answered = false;
    void look(uint64_t cycle) {
        taken = busy && ((dut->axil_awvalid_i && dut->axil_awready_o) || (dut->axil_arvalid_i && dut->axil_arready_o));
        answered = busy && (dut->axil_bvalid_o || dut->axil_rvalid_o);
        if (answered) {
            const bool refused = dut->axil_bvalid_o ? dut->axil_bresp_o != 0 : dut->axil_rresp_o != 0;
            answers.insert(answers.end(), {cycle, dut->axil_rvalid_o ? dut->axil_rdata_o : 0, refused});
        }
    }

    void after_edge() {
        if (taken) dut->axil_awvalid_i = dut->axil_wvalid_i = dut->axil_arvalid_i = 0;
        if (answered) {
            busy = false;
            next++;
        }
    }

    // After a reset: what was under way is done once more.
    void again() {
        busy = taken = answered = false;
        dut->axil_awvalid_i = dut->axil_wvalid_i = dut->axil_arvalid_i = 0;
    }

    // Outside of the run.
    void finish(uint64_t cycle) {
        while (busy || due(cycle)) {
            drive(cycle);
            dut->eval();
            look(cycle);
            edge();
            after_edge();
        }
    }
};

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const Words in = read_file<uint64_t>(argv[1]);
    const auto octets = read_file<uint8_t>(argv[2]);
    const uint64_t accesses = in[0], frames = in[1], quiet_max = in[2], reset_at = in[3], reset_cycles = in[4];
    const uint64_t* access_rows = &in[5];
    const uint64_t* frame_rows = access_rows + 4 * accesses;

    auto context = std::make_unique<VerilatedContext>();
    auto owner = std::make_unique<Vtsn_switch>(context.get());
    dut = owner.get();
    dut->clk_i = 0;
    dut->rst_ni = 0;
    for (int k = 0; k < 4; k++) edge();
    dut->rst_ni = 1;
    while (!dut->ready_o) edge();
    Master master{access_rows, accesses};
    master.finish(BEFORE);

    Source sources[PORTS];
    Sink sinks[PORTS];
    uint64_t offset = 0;
    for (uint64_t k = 0; k < frames; k++) {
        const uint64_t* row = frame_rows + 6 * k;
        sources[row[0]].frames.push_back({row[0], row[1], row[2], row[3], row[4], row[5], offset, k});
        offset += row[2];
    }

    Words sfd_in(frames);
    std::vector<Sent> sent;
    std::vector<uint8_t> sent_octets;
    uint64_t quiet = 0;
    for (; quiet < quiet_max; now++) {
        uint64_t rxd = 0;
        uint32_t dv = 0, er = 0;
        if (now == reset_at) {
            dut->rst_ni = 0;
            master.again();
        }
        if (now == reset_at + reset_cycles) dut->rst_ni = 1;
        quiet++;
        if (master.next < accesses && access_rows[4 * master.next] != AFTER) quiet = 0;
        if (dut->rst_ni) master.drive(now);
        for (int p = 0; p < PORTS; p++) {
            Source& source = sources[p];
            if (!source.active) {
                source.idle++;
                if (!source.frames.empty()) {
                    quiet = 0;
                    if (now >= source.frames.front().first && source.idle > source.frames.front().gap) {
                        source.active = true;
                        source.at = 0;
                    }
                }
            }
            if (source.active) {
                quiet = 0;
                const Given& frame = source.frames.front();
                uint8_t octet = 0x55;
                if (source.at == frame.preamble) {
                    octet = 0xd5;
                    sfd_in[frame.index] = now;
                } else if (source.at > frame.preamble) {
                    octet = octets[frame.offset + source.at - frame.preamble - 1];
                }
                rxd |= (uint64_t)octet << (8 * p);
                dv |= 1u << p;
                if (source.at == frame.error) er |= 1u << p;
                if (++source.at == frame.octets + frame.preamble + 1) {
                    source.active = false;
                    source.idle = 0;
                    source.frames.pop_front();
                }
            }
        }
        dut->gmii_rxd_i = rxd;
        dut->gmii_rx_dv_i = dv;
        dut->gmii_rx_er_i = er;
        dut->eval();
        if (dut->rst_ni) master.look(now);
        for (int p = 0; p < PORTS; p++) {
            Sink& sink = sinks[p];
            const bool en = dut->gmii_tx_en_o >> p & 1;
            const uint8_t octet = dut->gmii_txd_o >> (8 * p) & 0xff;
            if (!en) {
                if (sink.inside) {
                    sent.push_back({(uint64_t)p, sink.sfd, sink.octets.size(), sink.gap, sink.bad});
                    sent_octets.insert(sent_octets.end(), sink.octets.begin(), sink.octets.end());
                    sink.idle = 0;
                    sink.octets.clear();
                }
                sink.inside = sink.after_sfd = sink.bad = false;
                sink.idle++;
            } else {
                quiet = 0;
                if (!sink.inside) sink.gap = sink.idle;
                sink.inside = true;
                if (dut->gmii_tx_er_o >> p & 1) sink.bad = true;
                if (sink.after_sfd) {
                    sink.octets.push_back(octet);
                } else if (octet == 0xd5) {
                    sink.after_sfd = true;
                    sink.sfd = now;
                }
            }
        }
        rise();
        if (dut->rst_ni) master.after_edge();
    }
    dut->eval();
    master.finish(AFTER);

    Words out = {sent.size(), now};
    out.insert(out.end(), sfd_in.begin(), sfd_in.end());
    for (const Sent& frame : sent) out.insert(out.end(), {frame.port, frame.sfd, frame.octets, frame.gap, frame.bad});
    out.insert(out.end(), master.answers.begin(), master.answers.end());
    out.insert(out.end(), enqueued.begin(), enqueued.end());
    write_file(argv[3], out);
    write_file(argv[4], sent_octets);
    return 0;
}
