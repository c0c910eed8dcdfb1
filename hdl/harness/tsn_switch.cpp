// Runs the switch over frames on its GMII ports and writes what it sends.
//
// Usage: harness SCRIPT OCTETS SENT SENT_OCTETS. SCRIPT is an array of 64-bit words of this machine:
// {settings, frames, quiet cycles at the end, cycle of a reset}, per setting {kind, five values}, per frame {port, first
// cycle, octets, cycle of rx_er or none}; OCTETS holds the frames from destination to frame check
// sequence, one after the other. SENT: {sent frames}, per given frame {cycle of its start delimiter},
// per sent frame {port, cycle of its start delimiter, octets, gap before it}, the counters of the
// ports, {discards by burst, by residence} of every group, {table overflows, free cells}.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <memory>
#include <vector>

#include "Vtsn_switch.h"
#include "verilated.h"

using Words = std::vector<uint64_t>;
constexpr int PORTS = 4, GROUPS = 64;

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

struct Given { uint64_t port, first, octets, error, offset, index; };
struct Sent { uint64_t port, sfd, octets, gap, offset; };

// The transmitting side of a neighbour: preamble, frame, at least 12 octets of gap.
struct Source {
    std::deque<Given> frames;
    uint64_t at = 0, idle = 12;
    bool active = false;
};

// Its receiving side.
struct Sink {
    bool inside = false, after_sfd = false;
    uint64_t sfd = 0, gap = 0, idle = 1000;
    std::vector<uint8_t> octets;
};

static Vtsn_switch* dut;
static void edge() {
    dut->clk_i = 1;
    dut->eval();
    dut->clk_i = 0;
    dut->eval();
}

static void set_bits(uint32_t* words, unsigned low, unsigned width, uint64_t value) {
    for (unsigned k = 0; k < width; k++) {
        const unsigned bit = low + k;
        words[bit / 32] = (words[bit / 32] & ~(1u << (bit % 32))) | (uint32_t)((value >> k) & 1) << (bit % 32);
    }
}

static void apply(const uint64_t* s) {
    switch (s[0]) {
        case 0:
            dut->scheduler_write_i = 1;
            dut->scheduler_index_i = s[1];
            dut->scheduler_group_i = s[2];
            dut->scheduler_octet_time_i = s[3];
            dut->scheduler_empty_to_full_i = s[4];
            dut->scheduler_octets_max_i = s[5];
            edge();
            dut->scheduler_write_i = 0;
            break;
        case 1:
            dut->group_write_i = 1;
            dut->group_index_i = s[1];
            dut->group_residence_max_i = s[2];
            edge();
            dut->group_write_i = 0;
            break;
        case 2:
            dut->stream_write_i = 1;
            dut->stream_key_i = s[1];
            dut->stream_scheduler_i = s[2];
            dut->stream_remove_i = s[3];
            dut->eval();
            while (!dut->stream_ready_o) edge();
            edge();
            dut->stream_write_i = 0;
            break;
        case 3:
            dut->address_write_i = 1;
            dut->address_key_i = s[1];
            dut->address_ports_i = s[2];
            dut->address_remove_i = s[3];
            dut->eval();
            while (!dut->address_ready_o) edge();
            edge();
            dut->address_write_i = 0;
            break;
        case 4:
            dut->processing_delay_max_i = s[1];
            dut->charged_overhead_i = s[2];
            dut->ats_class_i = s[3];
            break;
        case 5:
            dut->credit_based_i = (dut->credit_based_i & ~(1u << (8 * s[1] + s[2]))) | (uint32_t)(s[3] != 0) << (8 * s[1] + s[2]);
            set_bits(dut->idle_slope_i.data(), (unsigned)(30 * (8 * s[1] + s[2])), 30, s[3]);
            break;
        case 6: {
            uint32_t map = dut->class_of_pcp_i;
            set_bits(&map, (unsigned)(3 * s[1]), 3, s[2]);
            dut->class_of_pcp_i = map;
            break;
        }
        default:
            std::fprintf(stderr, "no setting %llu\n", (unsigned long long)s[0]);
            std::exit(2);
    }
}

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const Words in = read_file<uint64_t>(argv[1]);
    const auto octets = read_file<uint8_t>(argv[2]);
    const uint64_t settings = in[0], frames = in[1], quiet_max = in[2], reset_at = in[3];
    const uint64_t* setting_rows = &in[4];
    const uint64_t* frame_rows = setting_rows + 6 * settings;

    auto context = std::make_unique<VerilatedContext>();
    auto owner = std::make_unique<Vtsn_switch>(context.get());
    dut = owner.get();
    dut->clk_i = 0;
    dut->rst_ni = 0;
    dut->gate_open_i = ~0u;
    for (int k = 0; k < 4; k++) edge();
    dut->rst_ni = 1;
    while (!dut->ready_o) edge();
    for (uint64_t k = 0; k < settings; k++) apply(setting_rows + 6 * k);

    Source sources[PORTS];
    Sink sinks[PORTS];
    uint64_t offset = 0;
    for (uint64_t k = 0; k < frames; k++) {
        const uint64_t* row = frame_rows + 4 * k;
        sources[row[0]].frames.push_back({row[0], row[1], row[2], row[3], offset, k});
        offset += row[2];
    }

    Words sfd_in(frames);
    std::vector<Sent> sent;
    std::vector<uint8_t> sent_octets;
    uint64_t quiet = 0, now = 0;
    for (; quiet < quiet_max; now++) {
        uint32_t rxd = 0, dv = 0, er = 0;
        if (now == reset_at) dut->rst_ni = 0;
        if (now == reset_at + 8) dut->rst_ni = 1;
        quiet++;
        for (int p = 0; p < PORTS; p++) {
            Source& source = sources[p];
            if (!source.active) {
                source.idle++;
                if (!source.frames.empty()) {
                    quiet = 0;
                    if (now >= source.frames.front().first && source.idle > 12) {
                        source.active = true;
                        source.at = 0;
                    }
                }
            }
            if (source.active) {
                quiet = 0;
                const Given& frame = source.frames.front();
                uint8_t octet = 0x55;
                if (source.at == 7) {
                    octet = 0xd5;
                    sfd_in[frame.index] = now;
                } else if (source.at >= 8) {
                    octet = octets[frame.offset + source.at - 8];
                }
                rxd |= (uint32_t)octet << (8 * p);
                dv |= 1u << p;
                if (source.at == frame.error) er |= 1u << p;
                if (++source.at == frame.octets + 8) {
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
        for (int p = 0; p < PORTS; p++) {
            Sink& sink = sinks[p];
            const bool en = dut->gmii_tx_en_o >> p & 1;
            const uint8_t octet = dut->gmii_txd_o >> (8 * p) & 0xff;
            if (!en) {
                if (sink.inside) {
                    sent.push_back({(uint64_t)p, sink.sfd, sink.octets.size(), sink.gap, sent_octets.size()});
                    sent_octets.insert(sent_octets.end(), sink.octets.begin(), sink.octets.end());
                    sink.idle = 0;
                    sink.octets.clear();
                }
                sink.inside = sink.after_sfd = false;
                sink.idle++;
            } else {
                quiet = 0;
                if (!sink.inside) sink.gap = sink.idle;
                sink.inside = true;
                if (sink.after_sfd) {
                    sink.octets.push_back(octet);
                } else if (octet == 0xd5) {
                    sink.after_sfd = true;
                    sink.sfd = now;
                }
            }
        }
        edge();
    }

    Words out = {sent.size()};
    out.insert(out.end(), sfd_in.begin(), sfd_in.end());
    for (const Sent& frame : sent) out.insert(out.end(), {frame.port, frame.sfd, frame.octets, frame.gap});
    for (int p = 0; p < PORTS; p++) {
        const uint32_t counters[] = {dut->received_o[p], dut->received_short_o[p], dut->received_long_o[p],
                                     dut->received_check_o[p], dut->dropped_no_cell_o[p],
                                     dut->dropped_no_port_o[p], dut->dropped_queue_full_o[p], dut->sent_o[p]};
        out.insert(out.end(), std::begin(counters), std::end(counters));
    }
    for (int g = 0; g < GROUPS; g++) {
        dut->group_count_index_i = g;
        edge();
        out.insert(out.end(), {dut->group_exceeds_burst_o, dut->group_exceeds_residence_o});
    }
    out.insert(out.end(), {dut->table_overflows_o, dut->free_cells_o});
    write_file(argv[3], out);
    write_file(argv[4], sent_octets);
    std::printf("%llu cycles\n", (unsigned long long)now);
    return 0;
}
