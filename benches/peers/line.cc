// A line of switches in ns-3: each port a point-to-point device with one queue, frames forwarded by a table.
//
// Input on stdin, times in ps: duration, links (two nodes each, both directions), streams (period, offset, octets of the frame, nodes of
// its path). A frame's preamble is sent with it, the gap is the device's. Output as JSON: transmissions, per stream the frames that
// arrived, the sum of their delays and the greatest, and the CPU seconds of the run without its set-up.
#include <ctime>
#include <iostream>
#include <map>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

struct Stream
{
    int64_t period;
    uint32_t octets;
    std::vector<uint32_t> path;
    uint64_t frames = 0;
    int64_t sum = 0;
    int64_t most = 0;
};

struct Frame
{
    uint32_t stream;
    uint32_t hop;
    int64_t created;
};

static std::vector<Stream> streams;
static std::vector<Frame> frames; // by the packet's number
static std::map<std::pair<uint32_t, uint32_t>, Ptr<NetDevice>> devices;
static uint64_t transmissions = 0;

// Sends a frame to the next node of its path.
static void
Forward(Ptr<Packet> packet, const Frame& frame)
{
    const auto& path = streams[frame.stream].path;
    const auto& device = devices.at({path[frame.hop], path[frame.hop + 1]});
    device->Send(packet, device->GetBroadcast(), 0x0800);
}

static bool
Receive(Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&)
{
    Frame& frame = frames[packet->GetUid()];
    Stream& stream = streams[frame.stream];
    transmissions++;
    frame.hop++;
    if (frame.hop + 1 == stream.path.size())
    {
        int64_t delay = Simulator::Now().GetPicoSeconds() - frame.created;
        stream.frames++;
        stream.sum += delay;
        stream.most = std::max(stream.most, delay);
    }
    else
    {
        Forward(packet->Copy(), frame);
    }
    return true;
}

static void
CreateFrame(uint32_t number)
{
    Stream& stream = streams[number];
    // The header of the point-to-point protocol has two of the octets on the line, the preamble is eight.
    Ptr<Packet> packet = Create<Packet>(stream.octets + 8 - 2);
    if (frames.size() <= packet->GetUid())
    {
        frames.resize(2 * packet->GetUid() + 1);
    }
    frames[packet->GetUid()] = Frame{number, 0, Simulator::Now().GetPicoSeconds()};
    Forward(packet, frames[packet->GetUid()]);
    Simulator::Schedule(PicoSeconds(stream.period), &CreateFrame, number);
}

int
main()
{
    Time::SetResolution(Time::PS);
    int64_t duration;
    uint32_t nodes;
    uint32_t links;
    uint32_t count;
    std::cin >> duration >> nodes >> links;
    NodeContainer all;
    all.Create(nodes);
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    helper.SetDeviceAttribute("InterframeGap", TimeValue(NanoSeconds(96)));
    helper.SetChannelAttribute("Delay", TimeValue(PicoSeconds(0)));
    helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    for (uint32_t link = 0; link < links; link++)
    {
        uint32_t a;
        uint32_t b;
        std::cin >> a >> b;
        NetDeviceContainer pair = helper.Install(all.Get(a), all.Get(b));
        devices[{a, b}] = pair.Get(0);
        devices[{b, a}] = pair.Get(1);
        pair.Get(0)->SetReceiveCallback(MakeCallback(&Receive));
        pair.Get(1)->SetReceiveCallback(MakeCallback(&Receive));
    }
    std::cin >> count;
    streams.resize(count);
    for (uint32_t number = 0; number < count; number++)
    {
        int64_t offset;
        uint32_t length;
        std::cin >> streams[number].period >> offset >> streams[number].octets >> length;
        streams[number].path.resize(length);
        for (auto& node : streams[number].path)
        {
            std::cin >> node;
        }
        Simulator::Schedule(PicoSeconds(offset), &CreateFrame, number);
    }
    Simulator::Stop(PicoSeconds(duration));
    std::clock_t begun = std::clock();
    Simulator::Run();
    double seconds = double(std::clock() - begun) / CLOCKS_PER_SEC;
    std::cout << "{\"cpu_s\": " << seconds << ", \"transmissions\": " << transmissions << ", \"streams\": [";
    for (uint32_t number = 0; number < count; number++)
    {
        const Stream& stream = streams[number];
        std::cout << (number ? ", " : "") << "[" << stream.frames << ", " << stream.sum << ", " << stream.most << "]";
    }
    std::cout << "]}\n";
    Simulator::Destroy();
}
